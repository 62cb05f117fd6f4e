/** The words of the window: `t.section.key` gives the text in the language shown, and follows when it changes. */
import type { Language } from '../backend/types/Language';
import { en } from './en';
import { ja } from './ja';
import { systemLanguage, type Spoken } from './locale';
import { useLocaleOf } from './format';
import type { Messages } from './messages';
import { shown } from './shown.svelte';

const catalogues: Record<Spoken, Messages> = { en, ja };

/** The language shown. */
export function language(): Spoken {
  return shown.language;
}

/** Shows a language; `system` asks the system. */
export function speak(wanted: Language): void {
  const language = wanted === 'system' ? systemLanguage() : wanted;
  useLocaleOf(language);
  shown.language = language;
  document.documentElement.lang = language;
}

/** The language that texts are made in at the moment, where it is not the one shown. */
let lent: Spoken | null = null;

/** Makes texts in the language that is not shown: a command is found by the words of either. */
export function inOtherLanguage<T>(make: () => T): T {
  lent = shown.language === 'ja' ? 'en' : 'ja';
  try {
    return make();
  } finally {
    lent = null;
  }
}

export const t: Messages = new Proxy(en as Messages, {
  get: (_, section) => Reflect.get(catalogues[lent ?? shown.language], section),
});
