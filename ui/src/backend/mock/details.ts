/** What is known of one played job: its attempts and its result. */
import type { AttemptStep } from '../types/AttemptStep';
import type { AttemptView } from '../types/AttemptView';
import type { JobDetail } from '../types/JobDetail';
import type { JobView } from '../types/JobView';
import type { DocumentView } from '../types/DocumentView';
import type { RemoteView } from '../types/RemoteView';
import { inputOf } from './budget';
import { plainFacts, textOn } from './documents';
import { scatter } from './fixtures';
import { partsOf } from './parts';
import { resultOf, type ResultState } from './results';

function attempt(job: JobView, number: number, now: number, change: Partial<AttemptView>): AttemptView {
  const startedAt = (job.startedAt ?? now) - (job.attempts - number) * 41_000;
  return {
    generation: 1,
    number,
    step: { of: 'whole' },
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
    estimatedInputTokens: job.provider === 'offline' ? null : Math.round(inputOf(job) * 0.97),
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
  else if (job.status === 'submitted')
    Object.assign(last, { outcome: 'running', endedAt: null, httpStatus: null, requestId: null });
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

/** The calls of a long document: one a part, and one that combines them. */
function partAttempts(job: JobView, now: number): AttemptView[] {
  const parts = partsOf(job);
  const answered = parts.filter((part) => part.state === 'answered');
  const calls = answered.map((part, at): AttemptView => {
    const startedAt = (job.startedAt ?? now) - (answered.length - at) * 52_000;
    return attempt(job, at + 1, now, {
      step: { of: 'part', pages: part.pages },
      startedAt,
      endedAt: startedAt + 47_000,
      outcome: part.review === null ? 'completed' : 'needs-review',
      cause: part.review === null ? null : 'cut-off',
      message: part.review,
      httpStatus: 200,
      inputTokens: part.inputTokens,
      outputTokens: part.outputTokens,
      costMicros: part.costMicros,
    });
  });
  const running = parts.find((part) => part.state === 'running');
  const combines = answered.length === parts.length;
  if (job.status === 'pending' || (!running && !combines)) return calls.reverse();
  const step: AttemptStep = running ? { of: 'part', pages: running.pages } : { of: 'combine' };
  const ended = job.status !== 'running';
  const last: Partial<AttemptView> = {
    step,
    startedAt: job.startedAt ?? now,
    endedAt: ended ? (job.startedAt ?? now) + 21_000 : null,
    outcome: ended ? 'completed' : 'running',
    cause: null,
    message: null,
    httpStatus: ended ? 200 : null,
    requestId: null,
    inputTokens: ended ? 4_310 : null,
    outputTokens: ended ? 1_043 : null,
    costMicros: ended ? 28_575 : null,
    ...(step.of === 'combine' ? { estimatedInputTokens: 4_180 } : {}),
  };
  return [attempt(job, calls.length + 1, now, last), ...calls.reverse()];
}

/** Long documents have something odd of every kind. */
function documentOf(job: JobView): DocumentView | null {
  if (job.kind !== 'pdf') return null;
  const { pages, cause } = job;
  const japanese = /[^\x20-\x7e]/.test(job.title);
  const locked = cause === 'pdf-encrypted';
  const odd = job.parts !== null;
  return {
    sha256: 'c0'.repeat(32),
    bytes: 2_412_331,
    pages,
    encryption: locked ? 'needs-password' : odd ? 'empty-password' : 'none',
    hasText: pages === null ? null : true,
    facts: plainFacts(pages, {
      title: odd ? 'Thirty years of tillage trials: soil organic carbon under no-till and plough' : null,
      language: japanese ? 'ja' : 'en',
      text:
        pages === null ? null : odd ? textOn(pages - 12, pages, { unknownPercent: 9 }) : textOn(pages, pages),
      cipher: locked ? 'AES-256' : odd ? 'RC4 128-bit' : null,
      attachments: odd ? 2 : 0,
      fieldsUnseen: odd ? 3 : 0,
      repaired: odd,
      annotationsLost: odd && job.status === 'completed',
    }),
    finding: locked ? { cause, message: 'This PDF needs a password.' } : null,
  };
}

export function detailOf(
  job: JobView,
  prompt: string | null,
  now: number,
  state: ResultState & { remote: RemoteView | null },
): JobDetail {
  const hasResult = job.status === 'completed' || job.status === 'needs-review';
  return {
    job,
    prompt,
    variables: job.hasFields ? { currency: 'EUR' } : {},
    document: documentOf(job),
    sends: state.settings.textOnly ? 'text' : 'pdf',
    remote: state.remote,
    parts: partsOf(job),
    attempts: job.parts === null ? attemptsOf(job, now) : partAttempts(job, now),
    result: hasResult ? resultOf(job, now, state) : null,
  };
}
