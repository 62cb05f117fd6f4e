/** From a drop to jobs: the scan, what it found, and what the person chose. */
import { toProblem, type Backend } from '../backend/backend';
import type { EngineEvent } from '../backend/types/EngineEvent';
import type { Problem } from '../backend/types/Problem';
import type { QueueName } from '../backend/types/QueueName';
import type { ScanReport } from '../backend/types/ScanReport';
import type { Submission } from '../backend/types/Submission';
import type { Submitted } from '../backend/types/Submitted';
import type { Way } from '../queue/way';
import { faultyFiles, isLocked } from './found';

export type AddState =
  | { step: 'closed' }
  | { step: 'scanning' }
  | { step: 'ready'; report: ScanReport }
  | { step: 'failed'; problem: Problem };

/** How far counting the tokens of a scan is. */
export type Counted = Omit<Extract<EngineEvent, { event: 'count-progress' }>, 'event'>;
export type Progress = Omit<Extract<EngineEvent, { event: 'scan-progress' }>, 'event'>;

const NOTHING: Progress = { inspected: 0, found: 0, problems: 0, walking: true };

export class AddFlow {
  state = $state.raw<AddState>({ step: 'closed' });
  queue = $state<QueueName>('bulk');
  /** The way that the person chose; `null` for the one that is usual in the lane. */
  way = $state<Way | null>(null);
  progress = $state.raw<Progress>(NOTHING);
  submitting = $state(false);
  counted = $state.raw<Counted | null>(null);

  private generation = 0;

  constructor(private readonly backend: Backend) {}

  get open(): boolean {
    return this.state.step !== 'closed';
  }

  /** Looks into files and folders. A sheet that is open already is replaced. */
  async scan(paths: string[], queue: QueueName): Promise<void> {
    if (paths.length === 0) return;
    if (this.state.step === 'scanning') await this.cancel();
    this.generation += 1;
    const generation = this.generation;
    this.queue = queue;
    this.way = null;
    this.progress = NOTHING;
    this.state = { step: 'scanning' };
    try {
      const report = await this.backend.scan(paths);
      if (generation === this.generation) this.state = { step: 'ready', report };
    } catch (reason) {
      if (generation === this.generation) this.state = { step: 'failed', problem: toProblem(reason) };
    }
  }

  progressed(progress: Progress): void {
    this.progress = progress;
  }

  tokensCounted(counted: Counted): void {
    this.counted = counted;
  }

  /** Tries a password on the files that need one, and answers how many it opens; rejects where it opens none. */
  async unlock(password: string): Promise<number> {
    const { state, generation } = this;
    if (state.step !== 'ready') return 0;
    const report = await this.backend.unlockScan(state.report.scanId, password);
    // A sheet that was closed meanwhile stays closed.
    if (generation === this.generation) this.state = { step: 'ready', report };
    const locked = (of: ScanReport): number => faultyFiles(of, null).filter(isLocked).length;
    return locked(state.report) - locked(report);
  }

  /** Closes the sheet; nothing was sent. */
  async cancel(): Promise<void> {
    const scanning = this.state.step === 'scanning';
    this.generation += 1;
    this.state = { step: 'closed' };
    // The rejected scan belongs to a generation that is over; only a scan under way can be ended.
    if (scanning) await this.backend.cancelScan().catch(() => undefined);
  }

  /** Submits what was found; the sheet stays open when that fails. */
  async submit(submission: Submission): Promise<Submitted> {
    if (this.state.step !== 'ready') throw new Error('nothing to submit');
    this.submitting = true;
    try {
      const submitted = await this.backend.submitScan(this.state.report.scanId, submission);
      this.state = { step: 'closed' };
      return submitted;
    } finally {
      this.submitting = false;
    }
  }
}
