/** What the cells of a job row say. Pure: a row, its progress and the time in, words out. */
import type { JobView } from '../backend/types/JobView';
import type { PartsDone } from '../backend/types/PartsDone';
import { clockOrDay, clockSeconds, duration, money, shortTokens } from '../text/format';
import { t } from '../text/text.svelte';
import type { Progress } from './jobs.svelte';
import { waitingLines } from './waiting';

export const shortDuration = (milliseconds: number): string => duration(milliseconds, t.app.hoursMinutes);

export interface ProgressCell {
  first: string;
  second: string;
  /** Length of the bar in place of the second line; `reading` moves without one. */
  bar?: number | 'reading';
  runNow?: boolean;
}

export function statusNote(job: JobView, now: number): string {
  if (job.parts && job.parts.done > 0 && job.status === 'pending')
    return t.documents.partsDone(job.parts.done, job.parts.total);
  if (job.status === 'submitted' && job.startedAt !== null)
    return t.table.sentAt(clockOrDay(job.startedAt, now));
  if (job.attempts === 0) return t.table.added(clockOrDay(job.createdAt, now));
  // Each part may be tried that often, so that a bound for all of them says nothing.
  return job.parts ? t.table.attemptOfParts(job.attempts) : t.table.attempt(job.attempts, job.maxAttempts);
}

export function progressCell(job: JobView, progress: Progress | undefined, now: number): ProgressCell {
  switch (job.status) {
    case 'running':
      return runningCell(job, progress);
    case 'submitted':
      return {
        first: t.table.withProvider(shortDuration(now - (job.startedAt ?? now))),
        second: t.table.oftenHour,
      };
    case 'completed':
      return {
        first: job.reused
          ? t.results.reusedNote
          : job.provider === 'offline'
            ? t.table.offline
            : t.table.written(job.outputTokens),
        second: job.completedAt === null ? '' : t.table.finished(finishTime(job.completedAt, now)),
      };
    case 'needs-review':
    case 'failed':
    case 'dead-lettered': {
      if (job.cause === null) return { first: job.error ?? '', second: '' };
      const cause = t.cause[job.cause];
      return { first: cause.name, second: t.table.fix(cause.fix) };
    }
    case 'cancelled':
      return {
        first: t.table.notSent,
        second: job.completedAt === null ? '' : clockOrDay(job.completedAt, now),
      };
    case 'pending':
      return waitingLines(job, now);
  }
}

function finishTime(moment: number, now: number): string {
  const sameDay = new Date(moment).toDateString() === new Date(now).toDateString();
  return sameDay ? clockSeconds(moment) : clockOrDay(moment, now);
}

function runningCell(job: JobView, progress: Progress | undefined): ProgressCell {
  if (job.provider === 'offline') return { first: t.table.picking, second: '', bar: 'reading' };
  const part = job.parts && partWords(job.parts);
  if (progress?.phase === 'writing') {
    return {
      first: part ?? t.table.writing(progress.outputTokens),
      second: '',
      bar: Math.min(1, progress.outputTokens / Math.max(1, progress.maxTokens)),
    };
  }
  const first = job.pages === null ? t.table.reading : t.table.readingPages(job.pages);
  return { first: part ?? first, second: '', bar: 'reading' };
}

/** The part that is asked now: after the last one they are combined. */
function partWords({ done, total }: PartsDone): string {
  return done < total ? t.documents.partOf(done + 1, total) : t.documents.combining;
}

/** What all attempts cost so far. A call under way has no price yet, only the most that it and those before it come to. */
export function costCell(job: JobView): { first: string; second: string } {
  if (job.reused) return { first: t.results.reused, second: '' };
  const tokens = job.inputTokens + job.outputTokens;
  const second = tokens === 0 ? '' : shortTokens(tokens);
  if (job.costMicros === null) return { first: t.common.unknown, second };
  if (job.reservedMicros > 0)
    return { first: t.table.upTo(money(job.costMicros + job.reservedMicros)), second };
  const sent = job.status === 'running' || job.status === 'submitted';
  const untouched = job.costMicros === 0 && (job.attempts === 0 || sent);
  return { first: untouched ? t.common.none : money(job.costMicros), second };
}

export function timeCell(job: JobView, now: number): { first: string; second: string } {
  const ran = job.status === 'running' ? now - (job.startedAt ?? now) : job.ranMs;
  const waited = job.status === 'pending' && job.attempts === 0 ? now - job.createdAt : job.waitedMs;
  return { first: ran === 0 ? t.common.none : shortDuration(ran), second: shortDuration(waited) };
}

/** The row as it is read out: file, status, progress, cost. */
export function rowName(job: JobView, progress: ProgressCell, status: string): string {
  const pages = job.pages === null ? '' : `, ${t.common.pages(job.pages)}`;
  const note = progress.second === '' ? '' : `, ${progress.second}`;
  return `${job.title}${pages}, ${status}, ${progress.first}${note}, ${costCell(job).first}`;
}
