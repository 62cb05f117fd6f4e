/** The played results: what was written, where it lies, and what came before it. */
import type { JobId } from '../types/JobId';
import type { JobView } from '../types/JobView';
import type { OlderResult } from '../types/OlderResult';
import type { ResultView } from '../types/ResultView';
import type { Settings } from '../types/Settings';
import type { PlayedUploads } from './bucket';
import { scatter } from './fixtures';
import { SUMMARY_CUT_OFF, SUMMARY_EN, SUMMARY_FIELDS, SUMMARY_JA, SUMMARY_OFFLINE } from './summaries';

/** What a result depends on besides its job. */
export interface ResultState {
  settings: Settings;
  uploads: PlayedUploads;
  /** Results of earlier runs. */
  older: OlderResult[];
  /** The job that reused results are said to come from. */
  source: JobId;
}

const DAY_MS = 86_400_000;

export function summaryOf(job: JobView): string {
  if (job.provider === 'offline') return SUMMARY_OFFLINE;
  if (job.status === 'needs-review') return SUMMARY_CUT_OFF;
  if (job.hasFields) return SUMMARY_FIELDS;
  return /[^\x20-\x7e]/.test(job.title) ? SUMMARY_JA : SUMMARY_EN;
}

export function pathOf(job: JobView, generation: number): string {
  const run = generation === 1 ? '' : `-${generation}`;
  return `/home/mika/.local/share/gistmill/results/${job.jobId}${run}.${job.hasFields ? 'json' : 'md'}`;
}

export function resultOf(job: JobView, now: number, state: ResultState): ResultView {
  const { settings, uploads, older } = state;
  const generation = older.length + 1;
  const storedAt = job.completedAt ?? now;
  const copies = settings.copiesTo !== 'nowhere' && job.sourcePath !== null;
  const broken = uploads.copies.has(job.jobId);
  const beside = job.sourcePath?.replace(/\.pdf$/, job.hasFields ? '.json' : '.md') ?? null;
  return {
    markdown: summaryOf(job),
    format: job.hasFields ? 'json' : 'markdown',
    generation,
    provider: job.provider,
    model: job.model,
    template: job.template,
    stopReason: job.provider === 'offline' ? null : job.status === 'completed' ? 'end_turn' : 'max_tokens',
    sha256: 'ab'.repeat(32),
    bytes: 1_900,
    path: pathOf(job, generation),
    copyPath: copies && !broken ? beside : null,
    copyError: copies && broken ? 'The folder can’t be written.' : null,
    copyRetryAt: copies && broken ? now + 240_000 : null,
    upload: uploads.of(job.jobId, storedAt, settings.bucket),
    reusedFrom: job.reused
      ? { jobId: state.source, storedAt: storedAt - DAY_MS * (3 + scatter(job.title.length, 9)) }
      : null,
    older,
    createdAt: storedAt,
  };
}
