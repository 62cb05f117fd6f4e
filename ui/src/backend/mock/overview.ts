/** What the played engine says around its list. */
import type { BatchView } from '../types/BatchView';
import type { JobCounts } from '../types/JobCounts';
import type { JobStatus } from '../types/JobStatus';
import type { Overview } from '../types/Overview';
import type { QueueName } from '../types/QueueName';
import { gauges, nextEnds } from './budget';
import type { PlayedEngine } from './engine';
import { noticeOf } from './models';
import { Moment } from './moment';

/** The finished jobs per minute of the design's picture. */
const FINISHED = [3, 5, 6, 7, 8, 8, 8, 7, 8, 8, 6, 4, 5, 8, 8, 8, 8, 8, 8, 8, 9, 8, 8, 8, 8, 8, 9, 8, 8, 8];
/** The batches of the design in its order; later ones come first. */
const ORDER = ['batch-soil', 'batch-lease', 'batch-sustainability', 'batch-filings', 'batch-incidents'];
const BATCHES_AT_MOST = 10;
/** Later ones come first. */
const placeOf = (batchId: string): number => ORDER.indexOf(batchId);

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

/** Every batch, the newest first. */
export function batchesOf(engine: PlayedEngine, moment = new Moment(engine)): BatchView[] {
  const batches = new Map<string, BatchView>();
  for (const job of engine.jobs) {
    let batch = batches.get(job.batchId);
    if (!batch) {
      batch = {
        batchId: job.batchId,
        name: job.batchName,
        createdAt: job.createdAt,
        counts: emptyCounts(),
        paused: engine.pausedBatches.has(job.batchId),
        money: moment.batches.get(job.batchId) ?? {
          settledMicros: 0,
          unknownMicros: 0,
          reservedMicros: 0,
          capMicros: null,
        },
        pilot: engine.pilots.viewOf(job.batchId),
      };
      batches.set(job.batchId, batch);
    }
    countIn(batch.counts, job.status);
  }
  return [...batches.values()].sort((one, other) => placeOf(one.batchId) - placeOf(other.batchId));
}

export function overviewOf(engine: PlayedEngine): Overview {
  const moment = new Moment(engine);
  const counts = emptyCounts();
  const lanes: Record<QueueName, { running: number; waiting: number }> = {
    high: { running: 0, waiting: 0 },
    bulk: { running: 0, waiting: 0 },
  };
  for (const job of engine.jobs) {
    countIn(counts, job.status);
    if (job.status === 'running' || job.status === 'submitted') lanes[job.queue].running += 1;
    if (job.status === 'pending') lanes[job.queue].waiting += 1;
  }
  const ends = nextEnds(moment.now);
  return {
    counts,
    lanes: (['high', 'bulk'] as const).map((queue) => ({
      queue,
      paused: engine.pausedLanes.has(queue),
      ...lanes[queue],
      submitted: engine.remote.submittedIn(queue),
      settings: engine.lanes[queue],
      obstacle: lanes[queue].waiting === 0 ? null : moment.obstacleOf(queue),
      answer: null,
    })),
    batches: batchesOf(engine, moment).slice(0, BATCHES_AT_MOST),
    consumer: engine.consumer,
    circuits: engine.circuit ? [{ ...engine.circuit, waiting: counts.waiting }] : [],
    answer: counts.running > 0 || counts.waiting === 0 ? null : 'The next job starts at its retry time.',
    budget: {
      ...gauges(moment.uses, engine.settings),
      day: moment.day,
      month: moment.month,
      dayEndsAt: ends.day,
      monthEndsAt: ends.month,
    },
    storageProblem: engine.storageProblem,
    finishedPerMinute: counts.total === 0 ? FINISHED.map(() => 0) : FINISHED,
    key: engine.key,
    modelNotice: engine.settings.provider === 'claude' ? noticeOf(engine.settings.model) : null,
    uploads: engine.uploads.view(engine.settings.bucket),
  };
}
