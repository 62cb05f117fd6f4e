/** How a job's state is shown: a word, an icon and a colour, always all three. */
import type { IconName } from '../components/icons';
import type { JobView } from '../backend/types/JobView';
import type { WaitingReason } from '../backend/types/WaitingReason';
import type { Messages } from '../text/messages';

export type Look = 'run' | 'wait' | 'retry' | 'review' | 'dead' | 'done' | 'idle' | 'sent';

export interface ShownStatus {
  word: keyof Messages['status'];
  icon: IconName;
  look: Look;
}

const PAUSED: WaitingReason['reason'][] = ['job-paused', 'batch-paused', 'queue-paused'];

export function statusOf(job: JobView): ShownStatus {
  switch (job.status) {
    case 'running':
      return { word: 'running', icon: 'running', look: 'run' };
    case 'submitted':
      return { word: 'sent', icon: 'moon', look: 'sent' };
    case 'completed':
      return { word: 'done', icon: 'done', look: 'done' };
    case 'needs-review':
      return { word: 'review', icon: 'review', look: 'review' };
    case 'failed':
    case 'dead-lettered':
      return { word: 'dead', icon: 'dead', look: 'dead' };
    case 'cancelled':
      return { word: 'cancelled', icon: 'cancelled', look: 'idle' };
    case 'pending':
      if (job.waiting && PAUSED.includes(job.waiting.reason))
        return { word: 'paused', icon: 'paused', look: 'idle' };
      if (job.waiting?.reason === 'retrying') return { word: 'retrying', icon: 'retry', look: 'retry' };
      return { word: 'waiting', icon: 'waiting', look: 'wait' };
  }
}

/** Whether a person may put it back in its queue. What is done is bought again only after its price was shown. */
export function canRunAgain(job: JobView): boolean {
  return ['failed', 'dead-lettered', 'needs-review', 'cancelled'].includes(job.status);
}

/** Whether delivering it at once would change anything: a lane or a provider that is stopped holds it all the same. */
export function canRunNow(job: JobView): boolean {
  return (
    job.status === 'pending' && ['ready', 'delayed', 'retrying'].includes(job.waiting?.reason ?? 'ready')
  );
}
