/** The played report of a batch, counted from its jobs. */
import { causesEn } from '../../text/causes.en';
import type { BatchId } from '../types/BatchId';
import type { BatchReport } from '../types/BatchReport';
import type { Cause } from '../types/Cause';
import type { NextStep } from '../types/NextStep';
import { costOf } from './budget';
import type { PlayedEngine } from './engine';
import { MODEL, type PlayedJob } from './fixtures';
import { batchesOf } from './overview';
import { fixOf } from './selections';

const RANKED = 5;
const SLOW = 0.95;

function part(values: number[], share: number): number | null {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.floor((sorted.length - 1) * share)] ?? null;
}

const sum = (values: number[]): number => values.reduce((total, each) => total + each, 0);

function stepsOf(engine: PlayedEngine, jobs: PlayedJob[]): NextStep[] {
  const steps = new Map<string, NextStep>();
  for (const job of jobs) {
    const review = job.status === 'needs-review';
    if ((!review && job.status !== 'failed' && job.status !== 'dead-lettered') || job.cause === null)
      continue;
    const key = `${review}-${job.cause}`;
    const cause: Cause = job.cause;
    const step = steps.get(key) ?? {
      cause,
      review,
      jobs: 0,
      hint: causesEn[cause].hint,
      fix: fixOf(cause),
      atWorstMicros: 0,
    };
    const price = engine.prices.of(job.model);
    step.jobs += 1;
    step.atWorstMicros =
      step.fix === 'replace-file'
        ? 0 // As it is, the file would not run.
        : price && step.atWorstMicros !== null
          ? step.atWorstMicros + costOf(job, price).atWorst
          : null;
    steps.set(key, step);
  }
  return [...steps.values()].sort((one, other) => other.jobs - one.jobs);
}

export function reportOf(engine: PlayedEngine, batchId: BatchId): BatchReport | null {
  const batch = batchesOf(engine).find((each) => each.batchId === batchId);
  if (!batch) return null;
  const jobs = engine.jobs.filter((job) => job.batchId === batchId);
  const ended = jobs.filter((job) => job.completedAt !== null);
  const price = engine.prices.of(MODEL);
  const costs = jobs
    .filter((job) => job.provider === 'claude' && !job.reused && price)
    .map((job) => (price ? costOf(job, price) : { expected: 0, atWorst: 0 }));
  const ranked = jobs.map(({ jobId, title, ranMs, costMicros }) => ({
    jobId,
    title,
    ranMs,
    costMicros: costMicros ?? 0,
  }));
  const starts = jobs.flatMap((job) => job.startedAt ?? []);
  const asked = ended.filter((job) => !job.reused);
  const running = batch.counts.waiting + batch.counts.running > 0;
  const folder = jobs[0]?.sourcePath?.split('/').slice(0, -1).join('/') ?? null;
  return {
    batch,
    template: jobs.find((job) => job.kind === 'pdf')?.template ?? null,
    model: MODEL,
    startedAt: starts.length === 0 ? null : Math.min(...starts),
    endedAt: running ? null : Math.max(...ended.map((job) => job.completedAt ?? 0)),
    pages: sum(jobs.map((job) => job.pages ?? 0)),
    expectedMicros: sum(costs.map((cost) => cost.expected)),
    atWorstMicros: sum(costs.map((cost) => cost.atWorst)),
    inputTokens: sum(jobs.map((job) => job.inputTokens)),
    outputTokens: sum(jobs.map((job) => job.outputTokens)),
    reused: jobs.filter((job) => job.reused).length,
    withoutResult: jobs.filter((job) => job.costMicros === null).length,
    wastedMicros: 60_000 * jobs.filter((job) => job.costMicros === null).length,
    attempts: sum(jobs.map((job) => job.attempts)),
    retries: sum(jobs.map((job) => Math.max(0, job.attempts - 1))),
    typicalWaitedMs: part(
      asked.map((job) => job.waitedMs),
      0.5,
    ),
    typicalRanMs: part(
      asked.map((job) => job.ranMs),
      0.5,
    ),
    slowRanMs: part(
      asked.map((job) => job.ranMs),
      SLOW,
    ),
    slowest: ranked
      .filter((job) => job.ranMs > 0)
      .sort((one, other) => other.ranMs - one.ranMs)
      .slice(0, RANKED),
    dearest: ranked
      .filter((job) => job.costMicros > 0)
      .sort((one, other) => other.costMicros - one.costMicros)
      .slice(0, RANKED),
    nextSteps: stepsOf(engine, jobs),
    files: running || folder === null ? [] : [`${folder}/${batch.name}.csv`, `${folder}/${batch.name}.md`],
    filesError: null,
    folder,
  };
}
