/** What the pilot of a batch came to, and what the jobs that wait for it will come to with changes. */
import { coalesce } from '../app/coalesce';
import { EVERY_JOB, NO_CHANGES, toProblem, type Backend } from '../backend/backend';
import type { BatchId } from '../backend/types/BatchId';
import type { BatchView } from '../backend/types/BatchView';
import type { PilotReport } from '../backend/types/PilotReport';
import type { PilotView } from '../backend/types/PilotView';
import type { Problem } from '../backend/types/Problem';
import type { RetryChanges } from '../backend/types/RetryChanges';
import { changedWay, wayOf, type Way } from '../queue/way';

/** A pilot that jobs wait for. */
export function waitedFor(batch: BatchView): PilotView | null {
  const { pilot } = batch;
  return pilot && !pilot.released && pilot.waiting > 0 ? pilot : null;
}

/** Whether only the person's word is missing. */
export const needsWord = (batch: BatchView): boolean => waitedFor(batch)?.left === 0;

/** By how many percent the input was off what was expected; `null` where nothing was compared. */
export function inputOff({ expectedInputTokens, inputTokens }: PilotReport): number | null {
  if (expectedInputTokens === 0 || inputTokens === 0) return null;
  return Math.round((inputTokens / expectedInputTokens - 1) * 100);
}

/** More than a pilot has: among so many is one that waits for it. */
const LOOKED_AT = 50;

export class PilotLook {
  report = $state.raw<PilotReport | null>(null);
  problem = $state.raw<Problem | null>(null);
  changes = $state.raw<RetryChanges>(NO_CHANGES);
  /** The way that the jobs go which wait. */
  private waits = $state<Way>('bulk');
  private generation = 0;

  readonly refresh = coalesce(() => this.read());

  constructor(
    private readonly backend: Backend,
    private readonly batchId: BatchId,
  ) {}

  /** The way that they go with the changes. */
  get way(): Way {
    return changedWay(this.changes) ?? this.waits;
  }

  /** Whether what the pilot came to says something of jobs that are asked with the changes. */
  get measured(): boolean {
    const { provider, model, template } = this.changes;
    return provider === null && model === null && template === null;
  }

  set(change: Partial<RetryChanges>): void {
    this.changes = { ...this.changes, ...change };
    this.generation += 1;
    this.report = null;
    this.refresh();
  }

  private async read(): Promise<void> {
    const generation = this.generation;
    const waiting = { ...EVERY_JOB, shown: 'waiting' as const, batchId: this.batchId };
    try {
      const [report, page] = await Promise.all([
        this.backend.pilot(this.batchId, this.changes),
        this.backend.jobs(waiting, null, LOOKED_AT),
      ]);
      if (generation !== this.generation) return;
      this.report = report;
      // Those of the pilot may go another way.
      const behind = page.jobs.find((job) => job.waiting?.reason === 'pilot') ?? page.jobs[0];
      if (behind) this.waits = wayOf(behind);
      this.problem = null;
    } catch (reason) {
      if (generation === this.generation) this.problem = toProblem(reason);
    }
  }
}
