/** What a single letter does with the selected jobs; the same in the table and in the pane beside it. */
import type { App } from '../app/app.svelte';
import type { JobView } from '../backend/types/JobView';
import { openPath } from '../detail/actions';
import { canRunAgain, canRunNow } from './status';

/** Acts and answers whether the letter means something. */
export function actOnLetter(app: App, event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const { selection, rows, focusedIndex } = app.jobs;
  const idsOf = (able: (job: JobView) => boolean): string[] => selection.filter(able).map((job) => job.jobId);
  switch (event.key.toLowerCase()) {
    case 'r':
      void app.runAgain(idsOf(canRunAgain));
      return true;
    case 'n':
      void app.runNow(idsOf(canRunNow));
      return true;
    case 'o': {
      const path = rows[focusedIndex]?.sourcePath;
      if (path) openPath(app, path);
      return true;
    }
    default:
      return false;
  }
}
