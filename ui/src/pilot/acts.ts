/** A person's word for the jobs that wait for a pilot. */
import type { App } from '../app/app.svelte';
import type { BatchId } from '../backend/types/BatchId';
import type { RetryChanges } from '../backend/types/RetryChanges';
import { t } from '../text/text.svelte';

/** Lets them go on. It can't be taken back, since some start at once; pausing the batch holds the others. */
export function release(app: App, batchId: BatchId, changes: RetryChanges): Promise<boolean> {
  return app.toasts.attempt(async () => {
    const { jobs } = await app.backend.releasePilot(batchId, changes);
    const pause = { label: t.actions.pause, act: () => void app.actions.pauseBatch(batchId, true) };
    app.toasts.written(t.pilot.released(jobs), '', [pause]);
    app.refreshAll();
  });
}

export function cancelRest(app: App, batchId: BatchId): Promise<boolean> {
  return app.toasts.attempt(async () => {
    const { jobs } = await app.backend.cancelBehindPilot(batchId);
    app.toasts.done(t.pilot.cancelled(jobs));
    app.refreshAll();
  });
}
