/** What is known of one played job: its attempts and its result. */
import type { AttemptView } from '../types/AttemptView';
import type { JobDetail } from '../types/JobDetail';
import type { JobView } from '../types/JobView';
import { scatter } from './fixtures';
import { resultOf, type ResultState } from './results';

function attempt(job: JobView, number: number, now: number, change: Partial<AttemptView>): AttemptView {
  const startedAt = (job.startedAt ?? now) - (job.attempts - number) * 41_000;
  return {
    generation: 1,
    number,
    provider: job.provider,
    model: job.model,
    startedAt,
    endedAt: startedAt + 9_000,
    outcome: 'retryable',
    cause: 'overloaded',
    message: 'Overloaded',
    httpStatus: 529,
    requestId: `req_011CY${(scatter(job.title.length * 31 + number, 1e9) + 1e9).toString(36)}Lp`,
    waitedMs: 8_000,
    toldToWaitMs: null,
    retryAt: null,
    inputTokens: null,
    outputTokens: null,
    costMicros: 0,
    ...change,
  };
}

function attemptsOf(job: JobView, now: number): AttemptView[] {
  const attempts: AttemptView[] = [];
  for (let number = 1; number < job.attempts; number += 1) {
    const limited = number % 2 === 0;
    attempts.push(
      attempt(job, number, now, {
        ...(job.status === 'dead-lettered' || job.waiting?.reason === 'retrying'
          ? { cause: job.cause, message: job.error, httpStatus: job.cause === 'overloaded' ? 529 : null }
          : limited
            ? { cause: 'rate-limited', message: null, httpStatus: 429, toldToWaitMs: 31_000 }
            : {}),
        waitedMs: number === 1 ? job.waitedMs : 8_000,
      }),
    );
  }
  if (job.attempts === 0) return [];
  const last: Partial<AttemptView> = {
    waitedMs: job.attempts === 1 ? job.waitedMs : 31_000,
    inputTokens: job.inputTokens || null,
    outputTokens: job.outputTokens || null,
    costMicros: job.costMicros,
    endedAt: (job.startedAt ?? now) + job.ranMs,
    cause: job.cause,
    message: job.error,
    httpStatus: 200,
  };
  if (job.status === 'completed') last.outcome = 'completed';
  else if (job.status === 'needs-review') last.outcome = 'needs-review';
  else if (job.status === 'running')
    Object.assign(last, {
      outcome: 'running',
      endedAt: null,
      cause: null,
      httpStatus: null,
      costMicros: null,
      requestId: null,
    });
  else if (job.status === 'failed')
    Object.assign(last, { outcome: 'failed', httpStatus: null, requestId: null });
  else if (job.status === 'cancelled') Object.assign(last, { outcome: 'cancelled', httpStatus: null });
  else Object.assign(last, { outcome: 'retryable', httpStatus: job.cause === 'overloaded' ? 529 : null });
  if (job.provider === 'offline')
    Object.assign(last, { httpStatus: null, requestId: null, inputTokens: null, outputTokens: null });
  attempts.push(attempt(job, job.attempts, now, last));
  return attempts.reverse();
}

export function detailOf(job: JobView, prompt: string | null, now: number, state: ResultState): JobDetail {
  const hasResult = job.status === 'completed' || job.status === 'needs-review';
  return {
    job,
    prompt,
    variables: job.hasFields ? { currency: 'EUR' } : {},
    document:
      job.kind === 'pdf'
        ? {
            sha256: 'c0'.repeat(32),
            bytes: 2_412_331,
            pages: job.pages,
            encryption: 'none',
            hasText: true,
            finding: null,
          }
        : null,
    attempts: attemptsOf(job, now),
    result: hasResult ? resultOf(job, now, state) : null,
  };
}
