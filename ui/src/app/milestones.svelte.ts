/** What a screen reader is told without asking: a batch's quarters and a provider that stopped. */
import type { BatchId } from '../backend/types/BatchId';
import type { Overview } from '../backend/types/Overview';
import { t } from '../text/text.svelte';

const QUARTERS = [25, 50, 75, 100];

export class Milestones {
  message = $state('');
  private readonly reached = new Map<BatchId, number>();
  private stopped = '';

  /** Compares an overview with the one before. What was so at the start is not news. */
  look(overview: Overview): void {
    for (const batch of overview.batches) {
      const { total, waiting, running } = batch.counts;
      const percent = total === 0 ? 0 : Math.floor(((total - waiting - running) / total) * 100);
      const quarter = QUARTERS.findLast((each) => percent >= each) ?? 0;
      const before = this.reached.get(batch.batchId);
      this.reached.set(batch.batchId, quarter);
      if (before !== undefined && quarter > before) this.message = t.live.milestone(batch.name, quarter);
    }
    const stopped = overview.circuits.map((circuit) => circuit.cause).join();
    if (stopped !== this.stopped && overview.circuits[0]) {
      this.message = t.live.stopped(t.cause[overview.circuits[0].cause].name);
    }
    this.stopped = stopped;
  }
}
