/** Which action fits which job; the engine judges the same way and has the last word. */
import type { BulkAction } from '../backend/types/BulkAction';
import type { JobView } from '../backend/types/JobView';

export function fits(job: JobView, action: BulkAction): boolean {
  const waits = job.status === 'pending';
  switch (action.action) {
    case 'run-now':
      return waits && !job.paused;
    case 'cancel':
      // What the batch API has may be paid all the same; then its result is kept.
      return waits || job.status === 'running' || job.status === 'submitted';
    case 'pause':
      return waits && !job.paused;
    case 'resume':
      return waits && job.paused;
    case 'move-to':
      return waits && job.queue !== action.queue;
    case 'mark-reviewed':
      return job.status === 'needs-review';
    case 'unmark-reviewed':
      return job.reviewed;
    case 'purge':
      return job.status !== 'running' && job.status !== 'submitted';
  }
}
