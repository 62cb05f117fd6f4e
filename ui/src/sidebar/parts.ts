/** What lanes and batches show of their jobs: those under way, and all of a batch by state as shares of a bar. */
import type { JobCounts } from '../backend/types/JobCounts';
import type { LaneView } from '../backend/types/LaneView';

/** Jobs of a lane that this computer is at: without those that are with the batch API. */
export const liveOf = ({ running, submitted }: LaneView): number => running - (submitted?.jobs ?? 0);

export const settledOf = (counts: JobCounts): number => counts.total - counts.waiting - counts.running;

export function partsOf(counts: JobCounts): { look: string; share: number }[] {
  return [
    { look: 'b-done', share: counts.done },
    { look: 'b-review', share: counts.needsReview },
    { look: 'b-dead', share: counts.deadLetters },
    { look: 'b-idle', share: counts.cancelled },
    { look: '', share: counts.running },
  ]
    .filter((part) => part.share > 0)
    .map((part) => ({ ...part, share: (part.share / Math.max(1, counts.total)) * 100 }));
}
