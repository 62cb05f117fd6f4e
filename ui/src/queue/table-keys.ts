/** What a key does in the table: moving, selecting, opening; the single letters are those of `letters.ts`. */
import type { App } from '../app/app.svelte';
import { isSingleKey } from '../app/keys';
import type { JobView } from '../backend/types/JobView';
import { actOnLetter, pauseOrResume } from './letters';

/** What the table lends its keys. */
export interface TableHands {
  /** Rows that are a page. */
  page: number;
  focusRow: (index: number, extend: boolean) => void;
  open: (job: JobView) => void;
  openMenu: () => void;
}

/** Acts and answers whether the key means something. */
export function actOnKey(app: App, event: KeyboardEvent, hands: TableHands): boolean {
  const target = event.target instanceof Element ? event.target : null;
  // The head's buttons hear their own keys.
  if (target?.closest('.thead')) return false;
  const { jobs } = app;
  if (event.ctrlKey || event.metaKey) {
    if (event.key.toLowerCase() !== 'a') return false;
    jobs.selectEverything();
    return true;
  }
  if (event.altKey) return actOnLetter(app, event);
  if (event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey)) {
    hands.openMenu();
    return true;
  }
  const to = destination(app, event, hands.page);
  if (to !== null) {
    hands.focusRow(to, event.shiftKey);
    return true;
  }
  switch (event.key) {
    case 'Enter':
      if (jobs.focused) hands.open(jobs.focused);
      return true;
    case ' ':
      // A button in a row is pressed with it.
      if (target?.closest('button')) return false;
      pauseOrResume(app);
      return true;
    case 'Delete':
      void app.actions.onSelection({ action: 'cancel' });
      return true;
    case 'Escape':
      if (app.drawerOpen) app.drawerOpen = false;
      else jobs.clearSelection();
      return true;
  }
  return !(isSingleKey(event) && !app.settings.singleKeys) && actOnLetter(app, event);
}

/** The place of the list that a key leads to; `null` for a key that leads nowhere. */
function destination(app: App, event: KeyboardEvent, page: number): number | null {
  const { focusedIndex, total } = app.jobs;
  switch (event.key) {
    case 'ArrowDown':
      return focusedIndex + 1;
    case 'ArrowUp':
      return focusedIndex - 1;
    case 'PageDown':
      return focusedIndex + page;
    case 'PageUp':
      return focusedIndex - page;
    case 'Home':
      return 0;
    case 'End':
      return total - 1;
  }
  if (!app.settings.singleKeys) return null;
  const letter = event.key.toLowerCase();
  if (letter === 'j') return focusedIndex + 1;
  return letter === 'k' ? focusedIndex - 1 : null;
}
