/** The played queue: the five batches of the design, in every state. */
import type { Cause } from '../types/Cause';
import type { JobStatus } from '../types/JobStatus';
import type { JobView } from '../types/JobView';
import { BATCHES, fileName, type BatchKey } from './names';

export const MODEL = 'claude-sonnet-4-6';
export const LEASE_TEMPLATE = 'lease-abstract-v2';
/** A job that took an earlier result: nothing was asked and nothing paid. */
export const REUSED: Partial<JobView> = {
  reused: true,
  attempts: 0,
  startedAt: null,
  inputTokens: 0,
  outputTokens: 0,
  costMicros: 0,
  ranMs: 0,
  waitedMs: 0,
};

/** Numbers that look random and are the same every time. */
export function scatter(n: number, most: number): number {
  return Math.abs(Math.imul(n + 7, 2654435761) ^ (n << 5)) % most;
}

let lastNumber = 0;

/** A job of the played queue. */
export interface PlayedJob extends JobView {
  /** Its place in the order of arrival. */
  number: number;
  /** Its place in its lane: the order of arrival until someone moves it. */
  place: number;
  maxTokens: number;
}

export const MAX_TOKENS = 4096;

export function makeJob(
  batch: BatchKey,
  title: string,
  status: JobStatus,
  now: number,
  change: Partial<JobView> = {},
): PlayedJob {
  lastNumber += 1;
  const n = lastNumber;
  const pages = change.pages ?? 12 + scatter(n, 40);
  const ended = status !== 'pending' && status !== 'running' && status !== 'submitted';
  const inputTokens = status === 'pending' || status === 'running' ? 0 : pages * 2030 + scatter(n, 900);
  const outputTokens = status === 'completed' ? 700 + scatter(n, 800) : 0;
  const ranMs = ended ? 21_000 + scatter(n, 40_000) : 0;
  return {
    number: n,
    place: n,
    maxTokens: MAX_TOKENS,
    jobId: `0194f0aa-0000-7000-8000-${String(n).padStart(12, '0')}`,
    batchId: `batch-${batch}`,
    batchName: BATCHES[batch],
    kind: 'pdf',
    title,
    sourcePath: `/home/mika/Documents/${BATCHES[batch]}/${title}`,
    status,
    waiting: status === 'pending' ? { reason: 'ready' } : null,
    paused: false,
    queue: batch === 'lease' ? 'high' : 'bulk',
    delivery: 'each',
    pages,
    parts: null,
    template: batch === 'lease' ? LEASE_TEMPLATE : 'pdf-summarize-v4',
    hasFields: batch === 'lease',
    provider: 'claude',
    model: MODEL,
    attempts: status === 'pending' ? 0 : 1,
    maxAttempts: batch === 'lease' ? 6 : 4,
    createdAt: now - 31 * 60_000 - scatter(n, 60_000),
    startedAt: status === 'pending' ? null : now - ranMs - scatter(n, 3_000_000) - 60_000,
    completedAt: ended ? now - scatter(n, 3_000_000) - 50_000 : null,
    inputTokens,
    outputTokens,
    costMicros: Math.round(inputTokens * 3 + outputTokens * 15),
    reservedMicros: 0,
    reused: false,
    reviewed: false,
    ranMs,
    waitedMs: status === 'pending' ? 0 : 4_000 + scatter(n, 1_800_000),
    cause: null,
    error: null,
    ...change,
  };
}

const DEAD: Partial<Record<BatchKey, [Cause, number][]>> = {
  soil: [
    ['overloaded', 5],
    ['timed-out', 1],
  ],
  lease: [['pdf-damaged', 1]],
  sustainability: [['too-many-pages', 2]],
  incidents: [
    ['pdf-encrypted', 6],
    ['file-missing', 3],
    ['pdf-damaged', 1],
    ['too-many-pages', 2],
    ['timed-out', 1],
  ],
};

const ERRORS: Partial<Record<Cause, string>> = {
  overloaded: 'The provider answered 529 (overloaded) at every attempt.',
  'timed-out': 'No answer within 600 s.',
  'pdf-damaged': 'The cross-reference table is broken.',
  'too-many-pages': 'The document has 312 pages; the model takes 100.',
  'pdf-encrypted': 'The document needs a password.',
  'file-missing': 'The file does not exist any more.',
  'pdf-not-taken': 'The endpoint takes no PDFs; nothing was sent.',
  'files-not-taken': 'The file has 41 MB; the endpoint takes no files before a call.',
  'batches-not-offered': 'The endpoint has no batch API (404); nothing was sent.',
  'model-retired': 'claude-sonnet-4-5 was retired on 2026-01-30 and answers no more.',
};

function deadJob(batch: BatchKey, title: string, cause: Cause, now: number): PlayedJob {
  const retried = cause === 'overloaded' || cause === 'timed-out';
  return makeJob(batch, title, retried ? 'dead-lettered' : 'failed', now, {
    cause,
    error: ERRORS[cause] ?? null,
    attempts: retried ? 4 : 1,
    inputTokens: 0,
    costMicros: cause === 'timed-out' ? null : 0,
    ranMs: cause === 'timed-out' ? 2_400_000 : retried ? 8_000 : 400,
    pages:
      cause === 'too-many-pages' ? 312 : cause === 'pdf-damaged' || cause === 'pdf-encrypted' ? null : 22,
  });
}

/** Two more dead letters of a cause. */
export function moreDead(cause: Cause, now: number): PlayedJob[] {
  return ['regional-grid-outlook.pdf', 'annual-report-2025.pdf'].map((title) => ({
    ...deadJob('sustainability', title, cause, now),
    pages: 48,
    model: cause === 'model-retired' ? 'claude-sonnet-4-5' : MODEL,
    delivery: cause === 'batches-not-offered' ? 'batch' : 'each',
  }));
}

const BULK_OF: Record<BatchKey, { done: number; review: number; waiting: number }> = {
  filings: { done: 33, review: 3, waiting: 0 },
  incidents: { done: 74, review: 3, waiting: 0 },
  sustainability: { done: 0, review: 0, waiting: 118 },
  lease: { done: 55, review: 2, waiting: 3 },
  soil: { done: 169, review: 4, waiting: 298 },
};

/** The jobs that the first screen shows, upper row last. */
function showcase(now: number): PlayedJob[] {
  const soil = (title: string, status: JobStatus, change: Partial<JobView>): PlayedJob =>
    makeJob('soil', title, status, now, change);
  const lease = (title: string, status: JobStatus, change: Partial<JobView>): PlayedJob =>
    makeJob('lease', title, status, now, change);
  const running = (startedAgo: number, waitedMs: number, pages: number): Partial<JobView> => ({
    startedAt: now - startedAgo,
    waitedMs,
    pages,
  });
  return [
    soil('deep-rooting-cultivars_SOC-below-30cm.pdf', 'pending', { pages: 33 }),
    soil('saltmarsh_blue-carbon_accretion-rates.pdf', 'pending', { pages: 28 }),
    deadJob('soil', 'long-term-liming_pasture-soils_monograph.pdf', 'timed-out', now),
    soil('grazing-intensity_grassland-fluxes.pdf', 'needs-review', {
      pages: 41,
      cause: 'cut-off',
      error: 'The output stopped at 4,096 tokens.',
      outputTokens: 4096,
      costMicros: 312_000,
      ranMs: 58_000,
    }),
    lease('賃貸借契約変更覚書_横浜港北倉庫.pdf', 'pending', {
      pages: 12,
      attempts: 3,
      startedAt: now - 40_000,
      waiting: { reason: 'retrying', at: now + 118_000, cause: 'connection-failed' },
      cause: 'connection-failed',
      inputTokens: 24_800,
      costMicros: null,
      ranMs: 29_000,
      waitedMs: 364_000,
    }),
    soil('hedgerow-agroforestry_carbon-and-nitrogen-stock-model.pdf', 'pending', {
      pages: 21,
      attempts: 2,
      startedAt: now - 40_000,
      waiting: { reason: 'retrying', at: now + 42_000, cause: 'overloaded' },
      cause: 'overloaded',
      costMicros: 0,
      ranMs: 2_000,
      waitedMs: 1_695_000,
    }),
    soil('peatland-restoration_GHG-budget-of-rewetted-fens_synthesis.pdf', 'completed', {
      pages: 22,
      completedAt: now - 128_000,
      ...REUSED,
    }),
    soil('biochar_field-trials_meta-analysis.pdf', 'completed', {
      pages: 36,
      attempts: 3,
      completedAt: now - 53_000,
      inputTokens: 73_200,
      outputTokens: 1_043,
      costMicros: 78_400,
      ranMs: 44_000,
      waitedMs: 1_672_000,
    }),
    soil('黒ボク土_長期連用試験_土壌炭素貯留量の推移.pdf', 'running', running(4_000, 1_878_000, 16)),
    soil('rice-straw-return_methane-tradeoff.pdf', 'running', {
      ...running(11_000, 1_848_000, 27),
      attempts: 2,
      inputTokens: 55_300,
      costMicros: 0,
    }),
    soil('no-till_vs_ploughed_30-year-plots.pdf', 'running', running(31_000, 1_862_000, 19)),
    soil('cover-crops_SOC_temperate-cereals_2023.pdf', 'running', running(23_000, 1_870_000, 24)),
    lease('lease-amendment_unit-14B_Harbour-Row.pdf', 'running', running(6_000, 2_000, 18)),
    lease('倉庫賃貸借契約書_神田三丁目_2026年更新.pdf', 'running', running(19_000, 3_000, 31)),
  ];
}

/** All jobs in the order of arrival. `size` stretches the soil batch with finished jobs. */
export function makeJobs(now: number, size: number): PlayedJob[] {
  lastNumber = 0;
  const jobs: PlayedJob[] = [];
  const base = 798;
  for (const batch of Object.keys(BULK_OF) as BatchKey[]) {
    const { done, review, waiting } = BULK_OF[batch];
    let n = 0;
    const name = (): string => fileName(batch, n++);
    const extra = batch === 'soil' ? Math.max(0, size - base) : 0;
    for (let each = 0; each < done + extra; each += 1) {
      const offline = batch === 'incidents' && each % 9 === 0;
      jobs.push(
        makeJob(
          batch,
          name(),
          'completed',
          now,
          offline
            ? {
                provider: 'offline',
                model: 'extractive-v1',
                inputTokens: 0,
                outputTokens: 0,
                costMicros: 0,
                ranMs: 600,
              }
            : batch === 'incidents' && each % 19 === 1
              ? REUSED
              : {},
        ),
      );
    }
    for (const [cause, many] of DEAD[batch] ?? []) {
      for (let each = 0; each < many; each += 1) jobs.push(deadJob(batch, name(), cause, now));
    }
    for (let each = 0; each < review; each += 1) {
      const cause: Cause = each % 3 === 2 ? 'declined' : 'cut-off';
      jobs.push(makeJob(batch, name(), 'needs-review', now, { cause, error: null, outputTokens: 4096 }));
    }
    for (let each = 0; each < waiting; each += 1) jobs.push(makeJob(batch, name(), 'pending', now));
  }
  jobs.push(...showcase(now));
  return size < base ? jobs.slice(jobs.length - size) : jobs;
}
