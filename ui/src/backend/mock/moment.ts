/** How the played queue stands at one moment: money, budget, and why each job waits. */
import { currentTime } from '../../app/clock.svelte';
import type { BatchId } from '../types/BatchId';
import type { CapScope } from '../types/CapScope';
import type { Money } from '../types/Money';
import type { QueueName } from '../types/QueueName';
import type { WaitingReason } from '../types/WaitingReason';
import { budgetObstacle, committed, costOf, nextEnds, recent, reservationOf, type Use } from './budget';
import type { PlayedEngine } from './engine';
import type { PlayedJob } from './fixtures';
import { share } from './remote';

const MINUTES_A_DAY = 1440;
/** Reasons of a job alone: the lane goes on with another one. */
const OF_THE_JOB: WaitingReason['reason'][] = [
  'retrying',
  'delayed',
  'job-paused',
  'batch-paused',
  'pilot',
  'file-missing',
  'price-unknown',
];

export class Moment {
  readonly now = currentTime();
  readonly uses: Use[];
  readonly day: Money;
  readonly month: Money;
  readonly batches = new Map<BatchId, Money>();
  private readonly highWaits: boolean;

  constructor(private readonly engine: PlayedEngine) {
    const { settings } = engine;
    const nothing = { settledMicros: 0, unknownMicros: 0, reservedMicros: 0 };
    let reserved = 0;
    this.uses = recent(engine.uses, this.now);
    for (const job of engine.jobs) {
      let money = this.batches.get(job.batchId);
      if (!money) {
        money = { ...nothing, capMicros: engine.batchCaps.get(job.batchId) ?? null };
        this.batches.set(job.batchId, money);
      }
      money.settledMicros += job.costMicros ?? 0;
      if (job.costMicros === null) money.unknownMicros += this.atWorst(job);
      if (job.status === 'running' && job.provider === 'claude') {
        money.reservedMicros += this.atWorst(job);
        reserved += this.atWorst(job);
        this.uses.push(reservationOf(job, job.startedAt ?? this.now));
      }
      if (job.status === 'submitted') {
        money.reservedMicros += this.atWorst(job);
        reserved += this.atWorst(job);
      }
    }
    const empty = engine.jobs.length === 0;
    const unknown = empty ? 0 : 310_000;
    this.day = {
      settledMicros: empty ? 0 : 13_800_000 + engine.spentMicros,
      unknownMicros: unknown,
      reservedMicros: reserved,
      capMicros: settings.dayCapMicros,
    };
    this.month = {
      settledMicros: empty ? 0 : 212_400_000 + engine.spentMicros,
      unknownMicros: unknown,
      reservedMicros: reserved,
      capMicros: settings.monthCapMicros,
    };
    this.highWaits = engine
      .line('high')
      .some((job) => ['token-budget', 'requests-budget'].includes(this.reasonOf(job).reason));
  }

  atWorst(job: PlayedJob): number {
    const price = this.engine.prices.of(job.model);
    return job.provider === 'offline' || !price ? 0 : share(job.delivery, costOf(job, price).atWorst);
  }

  /** Why a pending job waits. */
  reasonOf(job: PlayedJob): WaitingReason {
    const { engine, now } = this;
    const own = job.waiting ?? { reason: 'ready' as const };
    if (job.paused) return { reason: 'job-paused' };
    if (engine.pausedBatches.has(job.batchId)) return { reason: 'batch-paused' };
    const behindPilot = engine.pilots.reasonOf(job);
    if (behindPilot) return behindPilot;
    if (own.reason === 'retrying' && own.at > now) return own;
    if (own.reason === 'delayed' && own.until > now) return own;
    if (engine.pausedLanes.has(job.queue)) return { reason: 'queue-paused' };
    if (engine.consumer === 'nowhere') return { reason: 'no-consumer' };
    const { circuit } = engine;
    if (circuit && circuit.provider === job.provider) {
      return circuit.cause === 'offline'
        ? { reason: 'offline', until: circuit.probeAt ?? now }
        : { reason: 'circuit-open', cause: circuit.cause };
    }
    if (job.provider === 'claude' && engine.key.source === 'none') {
      return { reason: 'circuit-open', cause: 'key-missing' };
    }
    return this.outsideHours(job) ?? this.moneyObstacle(job) ?? this.budgetOf(job) ?? { reason: 'ready' };
  }

  /** What holds the job that would be next in a lane. */
  obstacleOf(queue: QueueName): WaitingReason | null {
    const reasons = this.engine.line(queue).map((job) => this.reasonOf(job));
    if (reasons.some((each) => each.reason === 'ready')) return null;
    return reasons.find((each) => !OF_THE_JOB.includes(each.reason)) ?? reasons[0] ?? null;
  }

  private outsideHours(job: PlayedJob): WaitingReason | null {
    const hours = this.engine.settings.quietHours;
    if (job.queue !== 'bulk' || hours === null || hours.fromMinute === hours.toMinute) return null;
    const date = new Date(this.now);
    const minute = date.getHours() * 60 + date.getMinutes();
    const { fromMinute: from, toMinute: to } = hours;
    const within = from < to ? minute >= from && minute < to : minute >= from || minute < to;
    if (within) return null;
    const minutes = (from - minute + MINUTES_A_DAY) % MINUTES_A_DAY;
    const until = new Date(date.getFullYear(), date.getMonth(), date.getDate(), 0, minute + minutes);
    return { reason: 'outside-quiet-hours', until: until.getTime() };
  }

  private moneyObstacle(job: PlayedJob): WaitingReason | null {
    if (job.provider === 'offline') return null;
    if (!this.engine.prices.of(job.model)) return { reason: 'price-unknown', model: job.model };
    const ends = nextEnds(this.now);
    const caps: [CapScope, Money | undefined, number | null][] = [
      ['batch', this.batches.get(job.batchId), null],
      ['day', this.day, ends.day],
      ['month', this.month, ends.month],
    ];
    for (const [scope, money, until] of caps) {
      if (!money || money.capMicros === null) continue;
      const neededMicros = committed(money) + this.atWorst(job);
      if (neededMicros > money.capMicros) {
        return { reason: 'spend-cap', scope, capMicros: money.capMicros, neededMicros, until };
      }
    }
    return null;
  }

  private budgetOf(job: PlayedJob): WaitingReason | null {
    if (job.provider === 'offline') return null;
    if (job.delivery === 'batch') return this.engine.remote.filling();
    if (job.queue === 'bulk' && this.highWaits) return { reason: 'behind-high' };
    return budgetObstacle(reservationOf(job, this.now), this.uses, this.engine.settings, this.now);
  }
}
