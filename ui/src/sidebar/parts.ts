/** A batch's jobs by state, as shares of a bar. */
import type { JobCounts } from '../backend/types/JobCounts';

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
