/** The played batch API: jobs of Bulk that are collected, handed over together, and answered at half price. */
import { currentTime } from '../../app/clock.svelte';
import type { Delivery } from '../types/Delivery';
import type { JobId } from '../types/JobId';
import type { JobView } from '../types/JobView';
import type { QueueName } from '../types/QueueName';
import type { RemoteView } from '../types/RemoteView';
import type { SubmittedView } from '../types/SubmittedView';
import type { WaitingReason } from '../types/WaitingReason';
import { inputOf } from './budget';
import type { PlayedEngine } from './engine';
import { scatter, type PlayedJob } from './fixtures';
import { Moment } from './moment';

/** How long the first answer takes; then one comes with every tick. */
const ANSWER_MS = 20_000;
const SENT_AGO_MS = 44 * 60_000;
/** Jobs of the played batch that still wait to be handed over. */
const FILLING = 6;

/** What the batch API takes of a price. */
export const share = (delivery: Delivery, micros: number): number =>
  delivery === 'batch' ? Math.ceil(micros / 2) : micros;

export class PlayedRemote {
  /** Since when jobs are being collected. */
  private since: number | null = null;

  constructor(private readonly engine: PlayedEngine) {}

  /** How a job goes that is wanted so: only Claude's jobs of Bulk can be handed over. */
  deliveryOf(
    { queue, provider }: Pick<JobView, 'queue' | 'provider'>,
    wanted: Delivery | null = null,
  ): Delivery {
    if (queue !== 'bulk' || provider !== 'claude') return 'each';
    return wanted ?? this.engine.lanes.bulk.delivery;
  }

  /** Plays a batch at half price: most of it sent a while ago, the last jobs still being collected. */
  play(): void {
    const now = currentTime();
    const jobs = this.engine.jobs.filter(
      (job) => job.batchId === 'batch-sustainability' && job.status === 'pending',
    );
    const sent = jobs.length - FILLING;
    jobs.forEach((job, at) => {
      job.delivery = 'batch';
      if (at >= sent) return;
      const startedAt = now - SENT_AGO_MS + (at < sent / 2 ? 0 : 90_000);
      Object.assign(job, { status: 'submitted', waiting: null, attempts: 1, startedAt, costMicros: 0 });
      job.waitedMs = startedAt - job.createdAt + 60_000 * 31;
    });
  }

  /** Has every job of Bulk that is not done go as the lane says from now on. */
  deliver(delivery: Delivery): void {
    for (const job of this.engine.jobs) {
      const live = job.status === 'running' || job.status === 'submitted';
      if (job.status === 'completed' || live || job.queue !== 'bulk') continue;
      job.delivery = this.deliveryOf(job, delivery);
    }
  }

  submittedIn(queue: QueueName): SubmittedView | null {
    const jobs = this.sent().filter((job) => job.queue === queue);
    const times = jobs.map((job) => job.startedAt ?? 0);
    if (jobs.length === 0) return null;
    return {
      jobs: jobs.length,
      remoteBatches: new Set(times).size,
      since: Math.min(...times),
      trouble: null,
    };
  }

  /** What was sent at one moment is one remote batch. */
  viewOf(job: JobView): RemoteView | null {
    if (job.status !== 'submitted' || job.startedAt === null) return null;
    const at = job.startedAt;
    return {
      remoteId: `msgbatch_01${(scatter(at % 1e6, 1e9) + 1e9).toString(36)}HkcTjbnjm4Nh6pTx`,
      customId: `gm-${job.jobId}-1`,
      requests: this.sent().filter((each) => each.startedAt === at).length,
      sentAt: at,
      trouble: null,
    };
  }

  /** A job that could be handed over waits for others. */
  filling(): WaitingReason {
    this.since ??= currentTime();
    return { reason: 'filling-batch', until: this.since + this.engine.lanes.bulk.remoteWaitMs };
  }

  /** Hands over what was collected long enough, and lets an answer come. */
  tick(now: number, changed: JobId[]): void {
    const { remoteRequests, remoteWaitMs } = this.engine.lanes.bulk;
    const moment = new Moment(this.engine);
    const full = this.engine.line('bulk').filter((job) => moment.reasonOf(job).reason === 'filling-batch');
    const due = this.since !== null && now >= this.since + remoteWaitMs;
    if (full.length > 0 && (due || full.length >= remoteRequests)) {
      for (const job of full.slice(0, remoteRequests)) {
        Object.assign(job, { status: 'submitted', waiting: null, startedAt: now });
        job.attempts += 1;
        job.waitedMs = now - job.createdAt;
        changed.push(job.jobId);
      }
      this.since = null;
    }
    const answered = this.sent().find((job) => now - (job.startedAt ?? now) > ANSWER_MS);
    if (answered) this.answer(answered, now, changed);
  }

  private answer(job: PlayedJob, now: number, changed: JobId[]): void {
    const [inputTokens, outputTokens] = [inputOf(job), 700 + scatter(job.number, 800)];
    const costMicros = share('batch', inputTokens * 3 + outputTokens * 15);
    const ended = { status: 'completed', completedAt: now, ranMs: now - (job.startedAt ?? now) };
    Object.assign(job, { ...ended, inputTokens, outputTokens, costMicros });
    this.engine.spentMicros += costMicros;
    changed.push(job.jobId);
  }

  private sent(): PlayedJob[] {
    return this.engine.jobs.filter((job) => job.status === 'submitted');
  }
}
