/** How an action is worded: as a question or a button, and when it is done. */
import type { BulkAction } from '../backend/types/BulkAction';
import { t } from '../text/text.svelte';

export function wordAction(action: BulkAction, jobs: number): string {
  if (action.action === 'move-to') return t.actions.ask.moveTo(jobs, t.lane[action.queue]);
  return t.actions.ask[action.action](jobs);
}

export function wordDone(action: BulkAction, jobs: number): string {
  if (action.action === 'move-to') return t.actions.did.moveTo(jobs, t.lane[action.queue]);
  return t.actions.did[action.action](jobs);
}
