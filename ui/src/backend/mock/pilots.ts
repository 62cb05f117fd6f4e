/** Forecasts and pilots of the played engine: what jobs will come to, and which wait for a person's word. */
import { currentTime } from '../../app/clock.svelte';
import type { Affected } from '../types/Affected';
import type { BatchId } from '../types/BatchId';
import type { CapFit } from '../types/CapFit';
import type { DeliveryForecast } from '../types/DeliveryForecast';
import type { Forecast } from '../types/Forecast';
import type { JobId } from '../types/JobId';
import type { LimitedBy } from '../types/LimitedBy';
import type { Money } from '../types/Money';
import type { PilotReport } from '../types/PilotReport';
import type { PilotView } from '../types/PilotView';
import type { QueueName } from '../types/QueueName';
import type { RetryChanges } from '../types/RetryChanges';
import type { Submission } from '../types/Submission';
import type { SubmissionPlan } from '../types/SubmissionPlan';
import type { WaitingReason } from '../types/WaitingReason';
import { committed, costOf, inputOf } from './budget';
import type { PlayedEngine } from './engine';
import { MAX_TOKENS, type PlayedJob } from './fixtures';
import { endpointOf } from './endpoint';
import { batchesOf, overviewOf } from './overview';

const ENDED = ['completed', 'needs-review', 'failed', 'dead-lettered', 'cancelled'];
const HOUR_MS = 3_600_000;
/** How long the played answers take. */
const ANSWER_MS = 20_000;

interface Sums {
  jobs: number;
  calls: number;
  inputTokens: number;
  counted: number;
  expectedMicros: number | null;
  atWorstMicros: number | null;
  usuallyOffPercent: number | null;
  /** What the batch may cost, and what it has. */
  batch: Money;
}

const NOTHING_SPENT: Money = { settledMicros: 0, unknownMicros: 0, reservedMicros: 0, capMicros: null };

/** How many of the jobs fit under the caps, as if each cost the same. */
function capsOf(sums: Sums, part: (micros: number) => number, engine: PlayedEngine): CapFit[] {
  const { day, month } = overviewOf(engine).budget;
  const { expectedMicros, atWorstMicros, jobs, batch } = sums;
  if (expectedMicros === null || atWorstMicros === null) return [];
  const scopes: [CapFit['scope'], Money][] = [
    ['batch', batch],
    ['day', day],
    ['month', month],
  ];
  return scopes.flatMap(([scope, money]) => {
    const { capMicros } = money;
    if (capMicros === null) return [];
    const committedMicros = committed(money);
    const fit = (micros: number): number => {
      const each = Math.max(1, part(micros) / Math.max(1, jobs));
      return Math.min(jobs, Math.floor(Math.max(0, capMicros - committedMicros) / each));
    };
    return {
      scope,
      capMicros,
      committedMicros,
      jobsExpected: fit(expectedMicros),
      jobsAtWorst: fit(atWorstMicros),
    };
  });
}

/** What only a person can change and holds a lane. */
function obstacleOf(queue: QueueName, engine: PlayedEngine): WaitingReason | null {
  if (engine.pausedLanes.has(queue)) return { reason: 'queue-paused' };
  if (engine.key.source === 'none') return { reason: 'circuit-open', cause: 'key-missing' };
  const { circuit } = engine;
  if (circuit === null) return null;
  return circuit.probeAt === null
    ? { reason: 'circuit-open', cause: circuit.cause }
    : { reason: 'offline', until: circuit.probeAt };
}

/** What jobs come to, by the way that they go. */
function forecastOf(sums: Sums, model: string, engine: PlayedEngine): Forecast {
  const now = currentTime();
  const tokens = sums.inputTokens + sums.calls * 900;
  // Of an address that nobody says has a batch API, the person may know it.
  const batches = endpointOf(engine).abilities.batches || engine.lanes.bulk.delivery === 'batch';
  const minutes = Math.floor(tokens / engine.settings.tokensPerMinute);
  const way = (delivery: DeliveryForecast['delivery'], percent: number): DeliveryForecast => {
    const lane = engine.lanes[delivery === 'high' ? 'high' : 'bulk'];
    const rounds = Math.ceil(sums.calls / lane.maxConcurrency);
    const byTokens = minutes * 60_000 > rounds * ANSWER_MS;
    const limitedBy: LimitedBy = byTokens ? 'tokens' : rounds > 1 ? 'concurrency' : 'answers';
    const part = (micros: number): number => Math.ceil((micros * percent) / 100);
    const { expectedMicros, atWorstMicros } = sums;
    return {
      delivery,
      price:
        expectedMicros === null || atWorstMicros === null
          ? null
          : {
              lowMicros: part(expectedMicros * 0.8),
              expectedMicros: part(expectedMicros),
              highMicros: part(Math.min(expectedMicros * 1.5, atWorstMicros)),
              worstMicros: part(atWorstMicros),
            },
      finish:
        delivery === 'batch'
          ? { usuallyAt: now + HOUR_MS, atLatest: now + 24 * HOUR_MS, limitedBy: 'provider' }
          : { usuallyAt: now + Math.max(minutes * 60_000, rounds * ANSWER_MS), atLatest: null, limitedBy },
      obstacle: obstacleOf(delivery === 'high' ? 'high' : 'bulk', engine),
      caps: capsOf(sums, part, engine),
    };
  };
  return {
    jobs: sums.jobs,
    calls: sums.calls,
    model,
    input: {
      tokens: sums.inputTokens,
      worstTokens: sums.inputTokens * 3,
      countedJobs: sums.counted,
      estimatedJobs: sums.jobs - sums.counted,
      usuallyOffPercent: sums.usuallyOffPercent,
    },
    output: { low: 620, expected: 900, high: 1_480, worst: MAX_TOKENS, answers: 41 },
    deliveries: [way('high', 100), way('bulk', 100), ...(batches ? [way('batch', 50)] : [])],
  };
}

export function forecastOfPlan(plan: SubmissionPlan, submission: Submission, engine: PlayedEngine): Forecast {
  const model = submission.model ?? engine.settings.model;
  const batch = { ...NOTHING_SPENT, capMicros: submission.capMicros ?? engine.settings.batchCapMicros };
  const usuallyOffPercent = plan.estimates?.usuallyOffPercent ?? null;
  const forecast = forecastOf({ ...plan, jobs: plan.toRun, usuallyOffPercent, batch }, model, engine);
  if (submission.provider === 'claude') return forecast;
  // What is summarized on the computer costs nothing, and nobody has measured its time.
  const price = { lowMicros: 0, expectedMicros: 0, highMicros: 0, worstMicros: 0 };
  const ways = forecast.deliveries.filter((each) => each.delivery !== 'batch');
  const deliveries = ways.map((each) => ({ ...each, price, finish: null, obstacle: null, caps: [] }));
  return { ...forecast, deliveries };
}

export function forecastOfJobs(
  jobs: PlayedJob[],
  changes: RetryChanges,
  engine: PlayedEngine,
  batch: Money = NOTHING_SPENT,
): Forecast {
  const model = changes.model ?? jobs[0]?.model ?? engine.settings.model;
  const price = engine.prices.of(model);
  const costs = price ? jobs.map((job) => costOf(job, price)) : null;
  return forecastOf(
    {
      jobs: jobs.length,
      calls: jobs.length,
      inputTokens: jobs.reduce((sum, job) => sum + inputOf(job), 0),
      counted: 0,
      expectedMicros: costs && costs.reduce((sum, cost) => sum + cost.expected, 0),
      atWorstMicros: costs && costs.reduce((sum, cost) => sum + cost.atWorst, 0),
      usuallyOffPercent: null,
      batch,
    },
    model,
    engine,
  );
}

export class PlayedPilots {
  private readonly pilots = new Map<BatchId, { jobs: Set<JobId>; released: boolean }>();

  constructor(private readonly engine: PlayedEngine) {}

  /** Has the jobs of a new batch wait for the first of them, where a pilot is wanted. */
  begin(batchId: BatchId, jobs: JobId[], wanted: number | null): void {
    if (wanted === null || wanted >= jobs.length) return;
    const pilot = new Set(jobs.slice(0, wanted));
    this.pilots.set(batchId, { jobs: pilot, released: false });
    // What is to be seen before the rest is paid is asked call by call.
    for (const job of this.ofPilot(batchId)) job.delivery = 'each';
  }

  /** Plays a pilot of the newest batch: one that runs, has ended, or has ended without an answer. */
  play(how: string): void {
    const { jobs } = this.engine;
    const batchId = 'batch-soil';
    const done = jobs.filter((job) => job.batchId === batchId && job.status === 'completed');
    const ended = done.filter((job) => !job.reused).slice(0, 5);
    const [one, two, three] = ended;
    if (one && how !== 'failed') Object.assign(one, { status: 'needs-review', cause: 'cut-off' });
    if (how === 'failed') {
      for (const job of ended) {
        const unpaid = { inputTokens: 0, outputTokens: 0, costMicros: 0 };
        Object.assign(job, { status: 'dead-lettered', cause: 'invalid-request', ...unpaid });
      }
    }
    if (how === 'running' && two && three) {
      const begun = { completedAt: null, inputTokens: 0, outputTokens: 0, costMicros: 0 };
      Object.assign(two, { status: 'running', ...begun });
      Object.assign(three, { status: 'running', ...begun });
    }
    // The others of the batch have not begun.
    const others = jobs.filter((job) => job.batchId === batchId && !ended.includes(job));
    for (const job of others) {
      const fresh = {
        attempts: 0,
        startedAt: null,
        completedAt: null,
        costMicros: 0,
        cause: null,
        paused: false,
      };
      Object.assign(job, { status: 'pending', waiting: { reason: 'ready' }, reused: false, ...fresh });
      Object.assign(job, { inputTokens: 0, outputTokens: 0, ranMs: 0 });
    }
    this.pilots.set(batchId, { jobs: new Set(ended.map((job) => job.jobId)), released: false });
  }

  viewOf(batchId: BatchId): PilotView | null {
    const pilot = this.pilots.get(batchId);
    if (!pilot) return null;
    const left = this.ofPilot(batchId).filter((job) => !ENDED.includes(job.status));
    return {
      jobs: pilot.jobs.size,
      left: left.length,
      waiting: this.behind(batchId).length,
      released: pilot.released,
    };
  }

  reasonOf(job: PlayedJob): WaitingReason | null {
    if (!this.waits(job)) return null;
    return { reason: 'pilot', left: this.viewOf(job.batchId)?.left ?? 0 };
  }

  report(batchId: BatchId, changes: RetryChanges): PilotReport | null {
    const batch = batchesOf(this.engine).find((each) => each.batchId === batchId);
    if (!batch || !this.pilots.has(batchId)) return null;
    const jobs = this.ofPilot(batchId);
    const having = (...statuses: string[]): number =>
      jobs.filter((job) => statuses.includes(job.status)).length;
    return {
      batch,
      done: having('completed'),
      needsReview: having('needs-review'),
      failed: having('failed', 'dead-lettered', 'cancelled'),
      expectedInputTokens: jobs
        .filter((job) => job.outputTokens > 0)
        .reduce((sum, job) => sum + inputOf(job), 0),
      inputTokens: jobs.reduce((sum, job) => sum + job.inputTokens, 0),
      outputTokens: jobs.reduce((sum, job) => sum + job.outputTokens, 0),
      costMicros: jobs.reduce((sum, job) => sum + (job.costMicros ?? 0), 0),
      rest: forecastOfJobs(this.behind(batchId), changes, this.engine, batch.money),
    };
  }

  release(batchId: BatchId, changes: RetryChanges): Affected {
    return this.end(batchId, (job) => {
      job.model = changes.model ?? job.model;
      job.template = changes.template ?? job.template;
      const wanted = changes.delivery ?? (changes.queue === null ? job.delivery : null);
      job.queue = changes.queue ?? job.queue;
      job.delivery = this.engine.remote.deliveryOf(job, wanted);
      job.waiting = { reason: 'ready' };
    });
  }

  cancel(batchId: BatchId): Affected {
    return this.end(batchId, (job) =>
      Object.assign(job, { status: 'cancelled', waiting: null, completedAt: currentTime() }),
    );
  }

  private end(batchId: BatchId, change: (job: PlayedJob) => void): Affected {
    const jobs = this.behind(batchId);
    const pilot = this.pilots.get(batchId);
    if (pilot) pilot.released = true;
    jobs.forEach(change);
    this.engine.changed(jobs.map((job) => job.jobId));
    return { jobs: jobs.length, unchanged: 0 };
  }

  private ofPilot(batchId: BatchId): PlayedJob[] {
    const pilot = this.pilots.get(batchId);
    return this.engine.jobs.filter((job) => pilot?.jobs.has(job.jobId));
  }

  private behind(batchId: BatchId): PlayedJob[] {
    return this.engine.jobs.filter(
      (job) => job.batchId === batchId && job.status === 'pending' && this.waits(job),
    );
  }

  private waits(job: PlayedJob): boolean {
    const pilot = this.pilots.get(job.batchId);
    return pilot !== undefined && !pilot.released && !pilot.jobs.has(job.jobId);
  }
}
