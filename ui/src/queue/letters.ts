/** What a single key does with the selected jobs; the same in the table and in the pane beside it. */
import { openPath } from '../actions/job-menu';
import type { App } from '../app/app.svelte';
import { canRunAgain } from './status';

/** Acts and answers whether the key means something. */
export function actOnLetter(app: App, event: KeyboardEvent): boolean {
  const { actions, jobs } = app;
  const { focused } = jobs;
  if (event.altKey && (event.key === 'ArrowUp' || event.key === 'ArrowDown')) {
    if (app.orderShown.by !== 'line') actions.sayOrder();
    else if (focused) void actions.move(focused, event.key === 'ArrowUp' ? 'up' : 'down');
    return true;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || !app.settings.singleKeys) return false;
  switch (event.key.toLowerCase()) {
    case 'r':
      if (event.shiftKey || !jobs.selectionIsHeld) askToRunAgain(app);
      else runAgain(app);
      return true;
    case 'n':
      void actions.onSelection({ action: 'run-now' });
      return true;
    case 'h':
      void actions.onSelection({ action: 'move-to', queue: 'high' });
      return true;
    case 'b':
      void actions.onSelection({ action: 'move-to', queue: 'bulk' });
      return true;
    case 'o':
      if (focused?.sourcePath) openPath(app, focused.sourcePath);
      return true;
    default:
      return false;
  }
}

/** Opens the sheet that plans another run of what is selected. */
export function askToRunAgain(app: App): void {
  app.actions.again = { selection: app.jobs.chosen, jobs: app.jobs.selectedCount, changes: {} };
}

/** Runs again what failed; where all of it is done, the sheet says first what that costs. */
function runAgain(app: App): void {
  const { actions, jobs } = app;
  const ended = jobs.selection.filter(canRunAgain).map((job) => job.jobId);
  const done = jobs.selection.filter((job) => job.status === 'completed').map((job) => job.jobId);
  if (ended.length === 0 && done.length > 0) {
    actions.askToRunDone({ select: 'jobs', jobIds: done }, done.length);
  } else void actions.runAgain({ select: 'jobs', jobIds: ended });
}

/** Holds what is selected, or lets it go on where all of it is held already. */
export function pauseOrResume(app: App): void {
  void app.actions.onSelection({ action: allHeld(app) ? 'resume' : 'pause' });
}

function allHeld(app: App): boolean {
  const waiting = app.jobs.selection.filter((job) => job.status === 'pending');
  return waiting.length > 0 && waiting.every((job) => job.paused);
}
