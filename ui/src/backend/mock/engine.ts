/**
 * An engine in memory that behaves like the real one as far as the window can tell: states, counts, keyset pages,
 * events after every change. It plays the queue on a timer unless time is frozen.
 */
import { currentTime } from '../../app/clock.svelte';
import { EVERY_JOB } from '../backend';
import type { BatchView } from '../types/BatchView';
import type { CircuitView } from '../types/CircuitView';
import type { ConsumerPlace } from '../types/ConsumerPlace';
import type { EngineEvent } from '../types/EngineEvent';
import type { JobCounts } from '../types/JobCounts';
import type { JobFilter } from '../types/JobFilter';
import type { JobId } from '../types/JobId';
import type { JobPage } from '../types/JobPage';
import type { JobStatus } from '../types/JobStatus';
import type { JobView } from '../types/JobView';
import type { JobsShown } from '../types/JobsShown';
import type { KeyStatus } from '../types/KeyStatus';
import type { Overview } from '../types/Overview';
import type { QueueName } from '../types/QueueName';
import type { Submission } from '../types/Submission';
import type { Submitted } from '../types/Submitted';
import { makeJob, makeJobs, scatter, type PlayedJob } from './fixtures';

const STATUSES: Record<JobsShown, readonly JobStatus[]> = {
  all: [
    'pending',
    'running',
    'submitted',
    'completed',
    'needs-review',
    'failed',
    'dead-lettered',
    'cancelled',
  ],
  running: ['running', 'submitted'],
  waiting: ['pending'],
  'needs-review': ['needs-review'],
  'dead-letters': ['failed', 'dead-lettered'],
  done: ['completed'],
  cancelled: ['cancelled'],
};

const SLOTS: Record<QueueName, number> = { high: 10, bulk: 4 };
const TICK_MS = 400;
const MAX_TOKENS = 4096;

/** The finished jobs per minute of the design's picture. */
const FINISHED = [3, 5, 6, 7, 8, 8, 8, 7, 8, 8, 6, 4, 5, 8, 8, 8, 8, 8, 8, 8, 9, 8, 8, 8, 8, 8, 9, 8, 8, 8];

function emptyCounts(): JobCounts {
  return { total: 0, waiting: 0, running: 0, done: 0, needsReview: 0, deadLetters: 0, cancelled: 0 };
}

function countIn(counts: JobCounts, status: JobStatus): void {
  counts.total += 1;
  if (status === 'pending') counts.waiting += 1;
  else if (status === 'running' || status === 'submitted') counts.running += 1;
  else if (status === 'completed') counts.done += 1;
  else if (status === 'needs-review') counts.needsReview += 1;
  else if (status === 'cancelled') counts.cancelled += 1;
  else counts.deadLetters += 1;
}

export interface PlayedState {
  size: number;
  key: KeyStatus;
  consumer: ConsumerPlace;
  circuit: CircuitView | null;
  paused: QueueName[];
}

export class PlayedEngine {
  key: KeyStatus;
  private jobs: PlayedJob[];
  private readonly prompts = new Map<JobId, string>();
  private readonly written = new Map<JobId, number>();
  private readonly paused: Set<QueueName>;
  private circuit: CircuitView | null;
  private readonly listeners = new Set<(event: EngineEvent) => void>();
  private lastBatch = 0;

  constructor(private readonly state: PlayedState) {
    this.jobs = state.size === 0 ? [] : makeJobs(currentTime(), state.size);
    this.key = state.key;
    this.circuit = state.circuit;
    this.paused = new Set(state.paused);
    const still = state.circuit !== null || state.consumer !== 'here' || state.paused.length === 2;
    if (still) {
      for (const job of this.jobs.filter((each) => each.status === 'running')) {
        Object.assign(job, { status: 'pending', attempts: 0, startedAt: null, waiting: { reason: 'ready' } });
      }
    }
  }

  listen(listener: (event: EngineEvent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  emit(event: EngineEvent): void {
    for (const listener of this.listeners) listener(event);
  }

  /** Plays the queue. */
  run(): void {
    setInterval(() => this.tick(), TICK_MS);
  }

  /** Tells once how the running jobs stand, for a picture of a moment. */
  announceProgress(): void {
    const tokens = [33_870, 95, 1_204, 812, 36_412, 640];
    this.jobs
      .filter((job) => job.status === 'running')
      .forEach((job, index) => {
        const reading = index === 0 || index === 4;
        this.emit({
          event: 'job-progress',
          jobId: job.jobId,
          phase: reading ? 'reading' : 'writing',
          outputTokens: reading ? 0 : (tokens[index] ?? 0),
          maxTokens: MAX_TOKENS,
        });
      });
  }

  page(filter: JobFilter, after: number | null, limit: number): JobPage {
    const matching = this.matching(filter).reverse();
    const start = after === null ? 0 : matching.findIndex((job) => job.number < after);
    const jobs = start === -1 ? [] : matching.slice(start, start + limit);
    const last = jobs.at(-1);
    const more = last !== undefined && matching.at(-1) !== last;
    return {
      jobs: jobs.map((job) => this.view(job)),
      total: matching.length,
      next: more ? last.number : null,
    };
  }

  find(jobId: JobId): { job: JobView; prompt: string | null } | null {
    const job = this.jobs.find((each) => each.jobId === jobId);
    return job ? { job: this.view(job), prompt: this.prompts.get(jobId) ?? null } : null;
  }

  matching(filter: JobFilter): PlayedJob[] {
    const text = filter.text?.toLowerCase() ?? null;
    const statuses = STATUSES[filter.shown];
    return this.jobs.filter(
      (job) =>
        statuses.includes(job.status) &&
        (filter.queue === null || job.queue === filter.queue) &&
        (filter.batchId === null || job.batchId === filter.batchId) &&
        (text === null ||
          job.title.toLowerCase().includes(text) ||
          (job.error ?? '').toLowerCase().includes(text)),
    );
  }

  overview(): Overview {
    const counts = emptyCounts();
    const batches = new Map<string, BatchView>();
    const lanes: Record<QueueName, { running: number; waiting: number }> = {
      high: { running: 0, waiting: 0 },
      bulk: { running: 0, waiting: 0 },
    };
    for (const job of this.jobs) {
      countIn(counts, job.status);
      let batch = batches.get(job.batchId);
      if (!batch) {
        batch = {
          batchId: job.batchId,
          name: job.batchName,
          createdAt: job.createdAt,
          counts: emptyCounts(),
        };
        batches.set(job.batchId, batch);
      }
      countIn(batch.counts, job.status);
      if (job.status === 'running') lanes[job.queue].running += 1;
      if (job.status === 'pending') lanes[job.queue].waiting += 1;
    }
    const moving = counts.running > 0;
    const order = ['batch-soil', 'batch-lease', 'batch-sustainability', 'batch-filings', 'batch-incidents'];
    return {
      counts,
      lanes: (['high', 'bulk'] as const).map((queue) => ({
        queue,
        paused: this.paused.has(queue),
        ...lanes[queue],
        maxConcurrency: SLOTS[queue],
      })),
      batches: [...batches.values()]
        .sort((one, other) => order.indexOf(one.batchId) - order.indexOf(other.batchId))
        .slice(0, 10),
      consumer: this.state.consumer,
      circuits: this.circuit ? [{ ...this.circuit, waiting: counts.waiting }] : [],
      answer: moving || counts.waiting === 0 ? null : 'The next job starts at its retry time.',
      spentTodayMicros: counts.total === 0 ? 0 : 13_800_000,
      requestsLastMinute: moving ? 9 : 0,
      inputTokensLastMinute: moving ? 396_120 : 0,
      outputTokensLastMinute: moving ? 7_410 : 0,
      finishedPerMinute: counts.total === 0 ? FINISHED.map(() => 0) : FINISHED,
      key: this.key,
    };
  }

  retry(jobIds: JobId[]): number {
    return this.change(jobIds, (job) => {
      if (!['failed', 'dead-lettered', 'needs-review', 'cancelled'].includes(job.status)) return false;
      this.requeue(job);
      return true;
    });
  }

  retryMatching(filter: JobFilter): number {
    return this.retry(this.matching(filter).map((job) => job.jobId));
  }

  runNow(jobIds: JobId[]): number {
    return this.change(jobIds, (job) => {
      if (job.status !== 'pending') return false;
      job.waiting = { reason: 'ready' };
      return true;
    });
  }

  cancel(jobIds: JobId[]): number {
    return this.change(jobIds, (job) => {
      if (job.status !== 'pending' && job.status !== 'running') return false;
      Object.assign(job, { status: 'cancelled', waiting: null, completedAt: currentTime() });
      return true;
    });
  }

  pause(queue: QueueName, paused: boolean): void {
    if (paused) this.paused.add(queue);
    else this.paused.delete(queue);
    this.emit({ event: 'overview-changed' });
  }

  closeCircuit(): void {
    this.circuit = null;
    this.emit({ event: 'overview-changed' });
  }

  submit(
    titles: { title: string; path: string | null; pages: number | null }[],
    submission: Submission,
    prompt?: string,
  ): Submitted {
    this.lastBatch += 1;
    const batchId = `batch-new-${this.lastBatch}`;
    const made = titles.map(({ title, path, pages }) =>
      makeJob('soil', title, 'pending', currentTime(), {
        batchId,
        batchName: submission.name,
        kind: prompt === undefined ? 'pdf' : 'prompt',
        sourcePath: path,
        pages,
        queue: submission.queue,
        template: submission.template,
        provider: submission.provider,
        model:
          submission.provider === 'offline' ? 'extractive-v1' : (submission.model ?? 'claude-sonnet-4-6'),
        maxAttempts: submission.queue === 'high' ? 6 : 4,
        createdAt: currentTime(),
      }),
    );
    for (const job of made) if (prompt !== undefined) this.prompts.set(job.jobId, prompt);
    this.jobs = [...this.jobs, ...made];
    this.emit({ event: 'jobs-changed', jobIds: made.map((job) => job.jobId) });
    return { batchId, jobIds: made.map((job) => job.jobId) };
  }

  private view(job: PlayedJob): JobView {
    const { number: _, ...view } = job;
    if (view.status !== 'pending' || view.waiting?.reason === 'retrying') return view;
    if (this.paused.has(view.queue)) return { ...view, waiting: { reason: 'queue-paused' } };
    if (this.circuit && view.provider === this.circuit.provider) {
      return { ...view, waiting: { reason: 'circuit-open', cause: this.circuit.cause } };
    }
    if (this.state.consumer === 'nowhere') return { ...view, waiting: { reason: 'no-consumer' } };
    return view;
  }

  private change(jobIds: JobId[], act: (job: PlayedJob) => boolean): number {
    const wanted = new Set(jobIds);
    const changed = this.jobs.filter((job) => wanted.has(job.jobId) && act(job)).map((job) => job.jobId);
    if (changed.length > 0) this.emit({ event: 'jobs-changed', jobIds: changed });
    return changed.length;
  }

  private requeue(job: PlayedJob): void {
    Object.assign(job, {
      status: 'pending',
      waiting: { reason: 'ready' },
      attempts: 0,
      startedAt: null,
      completedAt: null,
      cause: null,
      error: null,
    });
  }

  private tick(): void {
    const now = currentTime();
    const changed: JobId[] = [];
    for (const job of this.jobs) {
      if (job.status === 'running') this.advance(job, now, changed);
      else if (job.waiting?.reason === 'retrying' && job.waiting.at <= now) {
        job.waiting = { reason: 'ready' };
        changed.push(job.jobId);
      }
    }
    if (this.circuit === null && this.state.consumer === 'here') this.startWaiting(now, changed);
    if (changed.length > 0) this.emit({ event: 'jobs-changed', jobIds: changed });
  }

  private startWaiting(now: number, changed: JobId[]): void {
    for (const queue of ['high', 'bulk'] as const) {
      if (this.paused.has(queue)) continue;
      let free = SLOTS[queue] - this.matching({ ...EVERY_JOB, shown: 'running', queue }).length;
      for (const job of this.jobs) {
        if (free <= 0) break;
        const able = job.provider === 'offline' || this.key.source !== 'none';
        if (job.queue !== queue || job.status !== 'pending' || job.waiting?.reason !== 'ready' || !able)
          continue;
        Object.assign(job, { status: 'running', waiting: null, startedAt: now, attempts: job.attempts + 1 });
        job.waitedMs = now - job.createdAt;
        changed.push(job.jobId);
        free -= 1;
      }
    }
  }

  private advance(job: PlayedJob, now: number, changed: JobId[]): void {
    const ran = now - (job.startedAt ?? now);
    const reading = ran < 2_500 && job.provider === 'claude';
    const before = this.written.get(job.jobId) ?? 0;
    const tokens = reading ? 0 : before + 40 + scatter(before + job.number, 60);
    this.written.set(job.jobId, tokens);
    this.emit({
      event: 'job-progress',
      jobId: job.jobId,
      phase: reading ? 'reading' : 'writing',
      outputTokens: tokens,
      maxTokens: MAX_TOKENS,
    });
    if (tokens < (job.provider === 'offline' ? 200 : 900 + scatter(job.number, 700))) return;
    const inputTokens = job.provider === 'offline' ? 0 : (job.pages ?? 1) * 2030;
    const outputTokens = job.provider === 'offline' ? 0 : tokens;
    Object.assign(job, {
      status: 'completed',
      completedAt: now,
      inputTokens,
      outputTokens,
      costMicros: inputTokens * 3 + outputTokens * 15,
      ranMs: job.ranMs + ran,
    });
    this.written.delete(job.jobId);
    changed.push(job.jobId);
  }
}
