/**
 * An engine in memory that behaves like the real one as far as the window can tell: states, counts, keyset pages,
 * events after every change. It plays the queue on a timer unless time is frozen.
 */
import { currentTime } from '../../app/clock.svelte';
import type { BatchId } from '../types/BatchId';
import type { Cause } from '../types/Cause';
import type { CircuitView } from '../types/CircuitView';
import type { ConsumerPlace } from '../types/ConsumerPlace';
import type { EngineEvent } from '../types/EngineEvent';
import type { JobFilter } from '../types/JobFilter';
import type { JobId } from '../types/JobId';
import type { JobOrder } from '../types/JobOrder';
import type { JobPage } from '../types/JobPage';
import type { JobRows } from '../types/JobRows';
import type { JobStatus } from '../types/JobStatus';
import type { JobView } from '../types/JobView';
import type { JobsShown } from '../types/JobsShown';
import type { KeyStatus } from '../types/KeyStatus';
import type { LaneSettings } from '../types/LaneSettings';
import type { OlderResult } from '../types/OlderResult';
import type { Problem } from '../types/Problem';
import type { QueueName } from '../types/QueueName';
import type { Settings } from '../types/Settings';
import type { Submission } from '../types/Submission';
import type { Submitted } from '../types/Submitted';
import { PlayedUploads } from './bucket';
import { PlayedHeaders } from './endpoint';
import { inputOf, reservationOf, type Use } from './budget';
import { makeJob, makeJobs, moreDead, MAX_TOKENS, MODEL, REUSED, scatter, type PlayedJob } from './fixtures';
import { Moment } from './moment';
import { inOrder } from './order';
import { PlayedPilots } from './pilots';
import { PlayedPrices } from './prices';
import { PlayedRemote } from './remote';
import { summaryOf } from './results';
import { PlayedTemplates } from './templates';

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

const TICK_MS = 400;

const LANE: LaneSettings = {
  maxBatchSize: 5,
  maxBatchTimeoutMs: 0,
  maxRetries: 5,
  maxConcurrency: 10,
  deliveryDelayMs: 0,
  delivery: 'each',
  remoteRequests: 1000,
  remoteWaitMs: 60_000,
};

export interface PlayedState {
  size: number;
  key: KeyStatus;
  consumer: ConsumerPlace;
  circuit: CircuitView | null;
  paused: QueueName[];
  settings: Settings;
  storageProblem: Problem | null;
  /** How the bucket does: `ok`, `waiting` or `failed`. */
  bucket?: string | null;
  /** Names of extra headers, with commas between them. */
  headers?: string | null;
  /** Causes of more dead letters. */
  dead?: Cause[] | undefined;
}

export class PlayedEngine {
  jobs: PlayedJob[];
  key: KeyStatus;
  settings: Settings;
  circuit: CircuitView | null;
  /** Spent since the start of the play. */
  spentMicros = 0;
  readonly consumer: ConsumerPlace;
  readonly storageProblem: Problem | null;
  readonly prices = new PlayedPrices();
  readonly templates = new PlayedTemplates();
  readonly pilots = new PlayedPilots(this);
  readonly remote = new PlayedRemote(this);
  readonly uploads: PlayedUploads;
  readonly headers: PlayedHeaders;
  /** Results of earlier runs. */
  readonly older = new Map<JobId, OlderResult[]>();
  /** Why jobs needed the review that they had. */
  readonly reviewed = new Map<JobId, Pick<JobView, 'cause' | 'error'>>();
  readonly pausedLanes: Set<QueueName>;
  readonly pausedBatches = new Set<BatchId>();
  readonly batchCaps = new Map<BatchId, number | null>();
  /** What ended calls used of the last minute. */
  readonly uses: Use[] = [];
  readonly lanes: Record<QueueName, LaneSettings> = {
    high: LANE,
    bulk: { ...LANE, maxBatchSize: 10, maxRetries: 3, maxConcurrency: 4, deliveryDelayMs: 5000 },
  };
  private readonly prompts = new Map<JobId, string>();
  private readonly written = new Map<JobId, number>();
  private readonly listeners = new Set<(event: EngineEvent) => void>();
  private lastBatch = 0;
  /** The list that was asked for last. */
  private kept: { question: string; jobs: PlayedJob[]; ordered: PlayedJob[] } | null = null;

  constructor(state: PlayedState) {
    const now = currentTime();
    this.jobs = state.size === 0 ? [] : makeJobs(now, state.size);
    this.jobs.push(...(state.dead ?? []).flatMap((cause) => moreDead(cause, now)));
    this.key = state.key;
    this.settings = state.settings;
    this.uploads = new PlayedUploads(state.bucket ?? null, this);
    this.headers = new PlayedHeaders(state.headers ?? null);
    this.circuit = state.circuit;
    this.consumer = state.consumer;
    this.storageProblem = state.storageProblem;
    this.pausedLanes = new Set(state.paused);
    const still =
      state.circuit !== null ||
      state.storageProblem !== null ||
      state.consumer !== 'here' ||
      state.paused.length === 2;
    if (still) {
      for (const job of this.jobs.filter((each) => each.status === 'running')) {
        Object.assign(job, { status: 'pending', attempts: 0, startedAt: null, waiting: { reason: 'ready' } });
      }
    } else if (state.size > 0) {
      // What ended within the last minute fills the window up to its limit.
      for (const ago of [46_000, 38_000, 21_000])
        this.uses.push({ at: now - ago, input: 37_900, output: 1_100 });
    }
  }

  listen(listener: (event: EngineEvent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  emit(event: EngineEvent): void {
    if (event.event !== 'job-progress') this.kept = null;
    for (const listener of this.listeners) listener(event);
  }

  /** Tells that jobs changed, if any did. */
  changed(jobIds: JobId[]): void {
    if (jobIds.length > 0) this.emit({ event: 'jobs-changed', jobIds });
  }

  /** Changes something else and tells so. */
  set(change: () => void): void {
    change();
    this.emit({ event: 'overview-changed' });
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
    const moment = new Moment(this);
    return {
      jobs: jobs.map((job) => this.view(job, moment)),
      total: matching.length,
      next: more ? last.number : null,
    };
  }

  rows(filter: JobFilter, order: JobOrder, offset: number, limit: number): JobRows {
    const ordered = this.ordered(filter, order);
    const moment = new Moment(this);
    return {
      jobs: ordered.slice(offset, offset + limit).map((job) => this.view(job, moment)),
      total: ordered.length,
    };
  }

  /** The jobs that match, in an order; kept until something changes. */
  ordered(filter: JobFilter, order: JobOrder): PlayedJob[] {
    const question = JSON.stringify([filter, order]);
    const { kept } = this;
    if (kept?.question === question && kept.jobs === this.jobs) return kept.ordered;
    const ordered = inOrder(this.matching(filter), order, filter.shown === 'all');
    this.kept = { question, jobs: this.jobs, ordered };
    return ordered;
  }

  find(jobId: JobId): { job: JobView; prompt: string | null } | null {
    const job = this.jobs.find((each) => each.jobId === jobId);
    return job ? { job: this.view(job, new Moment(this)), prompt: this.prompts.get(jobId) ?? null } : null;
  }

  matching(filter: JobFilter): PlayedJob[] {
    const words = wordsOf(filter.text ?? '');
    const statuses = STATUSES[filter.shown];
    return this.jobs.filter(
      (job) =>
        statuses.includes(job.status) &&
        (filter.queue === null || job.queue === filter.queue) &&
        (filter.batchId === null || job.batchId === filter.batchId) &&
        (filter.cause === null || job.cause === filter.cause) &&
        (filter.template === null || job.template.replace(/-v\d+$/, '') === filter.template) &&
        (filter.provider === null || job.provider === filter.provider) &&
        (filter.model === null || job.model === filter.model) &&
        (filter.addedSince === null || job.createdAt >= filter.addedSince) &&
        (words.length === 0 || hasWords(job, words)),
    );
  }

  /** The pending jobs of a lane in the order of their turn. */
  line(queue: QueueName): PlayedJob[] {
    return this.jobs
      .filter((job) => job.queue === queue && job.status === 'pending')
      .sort((one, other) => one.place - other.place);
  }

  remove(jobs: PlayedJob[]): void {
    const gone = new Set(jobs);
    this.jobs = this.jobs.filter((job) => !gone.has(job));
  }

  submit(
    titles: { title: string; path: string | null; pages: number | null; reused?: boolean }[],
    submission: Submission,
    prompt?: string,
  ): Submitted {
    this.lastBatch += 1;
    const batchId = `batch-new-${this.lastBatch}`;
    const now = currentTime();
    const delay = this.lanes[submission.queue].deliveryDelayMs;
    const hasFields = this.templates.of(submission.template)?.kind === 'fields';
    const made = titles.map(({ title, path, pages, reused = false }) =>
      makeJob('soil', title, reused ? 'completed' : 'pending', now, {
        batchId,
        batchName: submission.name,
        kind: prompt === undefined ? 'pdf' : 'prompt',
        sourcePath: path,
        pages,
        queue: submission.queue,
        delivery: this.remote.deliveryOf(submission, submission.delivery),
        template: submission.template,
        hasFields,
        provider: submission.provider,
        model: submission.provider === 'offline' ? 'extractive-v1' : (submission.model ?? MODEL),
        maxAttempts: this.lanes[submission.queue].maxRetries + 1,
        createdAt: now,
        ...(reused
          ? { ...REUSED, completedAt: now }
          : { waiting: delay > 0 ? { reason: 'delayed', until: now + delay } : { reason: 'ready' } }),
      }),
    );
    for (const job of made) if (prompt !== undefined) this.prompts.set(job.jobId, prompt);
    this.jobs = [...this.jobs, ...made];
    this.batchCaps.set(batchId, submission.capMicros ?? this.settings.batchCapMicros);
    if (submission.paused) this.pausedBatches.add(batchId);
    const asked = made.filter((job) => job.status === 'pending').map((job) => job.jobId);
    this.pilots.begin(batchId, asked, submission.pilot);
    this.changed(made.map((job) => job.jobId));
    return { batchId, jobIds: made.map((job) => job.jobId) };
  }

  private view(job: PlayedJob, moment: Moment): JobView {
    const { number: _number, place: _place, maxTokens: _maxTokens, ...view } = job;
    if (job.status === 'pending') return { ...view, waiting: moment.reasonOf(job) };
    const sent = job.status === 'running' || job.status === 'submitted';
    return sent ? { ...view, reservedMicros: moment.atWorst(job) } : view;
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
    if (this.storageProblem === null && this.consumer === 'here') {
      this.startWaiting(now, changed);
      this.remote.tick(now, changed);
    }
    this.changed(changed);
  }

  private startWaiting(now: number, changed: JobId[]): void {
    const moment = new Moment(this);
    for (const queue of ['high', 'bulk'] as const) {
      const running = this.jobs.filter((job) => job.queue === queue && job.status === 'running').length;
      let free = this.lanes[queue].maxConcurrency - running;
      for (const job of this.line(queue)) {
        if (free <= 0) break;
        if (moment.reasonOf(job).reason !== 'ready') continue;
        Object.assign(job, { status: 'running', waiting: null, startedAt: now, attempts: job.attempts + 1 });
        job.waitedMs = now - job.createdAt;
        if (job.provider === 'claude') moment.uses.push(reservationOf(job, now));
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
    const inputTokens = job.provider === 'offline' ? 0 : inputOf(job);
    const outputTokens = job.provider === 'offline' ? 0 : tokens;
    const costMicros = inputTokens * 3 + outputTokens * 15;
    Object.assign(job, {
      status: 'completed',
      completedAt: now,
      inputTokens,
      outputTokens,
      costMicros,
      ranMs: job.ranMs + ran,
    });
    if (job.provider === 'claude') {
      this.uses.push({ at: job.startedAt ?? now, input: inputTokens, output: outputTokens });
    }
    this.spentMicros += costMicros;
    this.written.delete(job.jobId);
    changed.push(job.jobId);
  }
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Whether each of `words` begins a word of the job's name, batch, template, error or result. */
function hasWords(job: PlayedJob, words: string[]): boolean {
  const result = job.status === 'completed' || job.status === 'needs-review' ? summaryOf(job) : '';
  const found = wordsOf(`${job.title} ${job.batchName} ${job.template} ${job.error ?? ''} ${result}`);
  return words.every((word) => found.some((each) => each.startsWith(word)));
}
