/** Whether the window is narrow: the sidebar is a rail, details open as a drawer (design, section 10). */
const query = window.matchMedia('(max-width: 1100px)');
const state = $state({ narrow: query.matches });
query.addEventListener('change', () => (state.narrow = query.matches));

export function isNarrow(): boolean {
  return state.narrow;
}
