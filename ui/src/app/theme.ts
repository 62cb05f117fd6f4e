/** Light and dark follow the system until chosen. `start.js` sets the first one from what is remembered here. */
import type { Theme } from '../backend/types/Theme';
import type { Language } from '../backend/types/Language';

const dark = window.matchMedia('(prefers-color-scheme: dark)');
let wanted: Theme = 'system';

function shownTheme(): 'light' | 'dark' {
  if (wanted !== 'system') return wanted;
  return dark.matches ? 'dark' : 'light';
}

function show(): void {
  document.documentElement.dataset['theme'] = shownTheme();
}

dark.addEventListener('change', show);

export function useTheme(theme: Theme): void {
  wanted = theme;
  show();
}

/** The theme that a press of the sidebar's button leads to. */
export function otherTheme(): Theme {
  return shownTheme() === 'dark' ? 'light' : 'dark';
}

/** Keeps what the next start needs before the engine answers. */
export function remember(theme: Theme, language: Language): void {
  try {
    window.localStorage.setItem('gistmill.theme', theme);
    window.localStorage.setItem('gistmill.language', language);
  } catch {
    // Without storage the next start follows the system until the engine answers.
  }
}
