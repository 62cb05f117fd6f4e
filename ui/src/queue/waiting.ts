/** Why a pending job waits: two short lines for its row, and a sentence for itself or its lane. */
import type { JobView } from '../backend/types/JobView';
import type { QueueName } from '../backend/types/QueueName';
import type { WaitingReason } from '../backend/types/WaitingReason';
import { clock, clockOrDay, countdown, money } from '../text/format';
import { t } from '../text/text.svelte';

const timeLeft = (milliseconds: number): string => countdown(milliseconds, t.app.hoursMinutes);

export interface WaitingLines {
  first: string;
  second: string;
  /** Whether delivering it now would skip what is said. */
  runNow?: boolean;
}

export function waitingLines(job: JobView, now: number): WaitingLines {
  const waiting = job.waiting ?? { reason: 'ready' as const };
  const startsIn = (until: number): string => t.table.startsIn(timeLeft(until - now));
  switch (waiting.reason) {
    case 'ready':
      return { first: t.table.ready, second: t.table.readyNote };
    case 'delayed':
      return { first: t.table.delayed, second: startsIn(waiting.until) };
    case 'retrying':
      return {
        first: waiting.cause === null ? t.status.retrying : t.cause[waiting.cause].name,
        second: waiting.at <= now ? t.table.dueNow : t.table.againIn(timeLeft(waiting.at - now)),
        runNow: waiting.at > now,
      };
    case 'token-budget':
      return { first: t.waiting.tokens, second: startsIn(waiting.until) };
    case 'requests-budget':
      return { first: t.waiting.requests, second: startsIn(waiting.until) };
    case 'larger-than-budget':
      return { first: t.waiting.larger, second: t.waiting.largerNote };
    case 'spend-cap':
      return {
        first: t.waiting.cap[waiting.scope],
        second: t.waiting.capNote(money(waiting.neededMicros)),
      };
    case 'price-unknown':
      return { first: t.waiting.price, second: t.waiting.priceNote };
    case 'behind-high':
      return { first: t.waiting.behindHigh, second: t.waiting.behindHighNote };
    case 'queue-paused':
      return { first: t.table.lanePaused, second: t.table.lanePausedNote(t.lane[job.queue]) };
    case 'batch-paused':
      return { first: t.waiting.batchPaused, second: t.waiting.batchPausedNote };
    case 'job-paused':
      return { first: t.waiting.jobPaused, second: t.waiting.jobPausedNote };
    case 'pilot':
      return {
        first: t.waiting.pilot,
        second: waiting.left === 0 ? t.waiting.pilotEnded : t.waiting.pilotLeft(waiting.left),
      };
    case 'outside-quiet-hours':
      return { first: t.waiting.hours, second: t.waiting.startsAt(clock(waiting.until)) };
    case 'circuit-open': {
      const cause = t.cause[waiting.cause];
      return { first: cause.name, second: t.table.fix(cause.fix) };
    }
    case 'offline':
      return {
        first: t.cause.offline.name,
        second: t.waiting.checksIn(timeLeft(waiting.until - now)),
      };
    case 'uploading':
      return { first: t.waiting.uploading, second: t.waiting.uploadingNote };
    case 'filling-batch':
      return { first: t.waiting.filling, second: startsIn(waiting.until) };
    case 'batch-api':
      return {
        first: t.cause[waiting.cause].name,
        second: t.table.againIn(timeLeft(waiting.until - now)),
      };
    case 'file-missing': {
      const cause = t.cause['file-missing'];
      return { first: cause.name, second: t.table.fix(cause.fix) };
    }
    case 'no-consumer':
      return { first: t.table.noConsumer, second: t.table.noConsumerNote };
  }
}

/** The reason in a word or two, where a lane has room for no more. */
export function obstacleName(waiting: WaitingReason): string {
  switch (waiting.reason) {
    case 'spend-cap':
      return t.waiting.cap[waiting.scope];
    case 'token-budget':
      return t.waiting.tokens;
    case 'requests-budget':
      return t.waiting.requests;
    case 'larger-than-budget':
      return t.waiting.larger;
    case 'price-unknown':
      return t.waiting.price;
    case 'behind-high':
      return t.waiting.behindHigh;
    case 'batch-paused':
      return t.waiting.batchPaused;
    case 'pilot':
      return t.waiting.pilot;
    case 'outside-quiet-hours':
      return t.waiting.hours;
    case 'circuit-open':
      return t.cause[waiting.cause].name;
    case 'offline':
      return t.cause.offline.name;
    case 'uploading':
      return t.waiting.uploading;
    case 'filling-batch':
      return t.waiting.filling;
    case 'batch-api':
      return t.cause[waiting.cause].name;
    case 'file-missing':
      return t.cause['file-missing'].name;
    case 'no-consumer':
      return t.table.noConsumer;
    case 'retrying':
      return t.status.retrying;
    case 'delayed':
      return t.table.delayed;
    case 'ready':
      return t.table.ready;
    case 'queue-paused':
    case 'job-paused':
      return t.status.paused;
  }
}

/** The reason as a sentence. `alone` is one job, not the next one of a lane. */
export function waitingSentence(
  waiting: WaitingReason,
  queue: QueueName,
  now: number,
  alone: boolean,
): string {
  const words = t.waiting.sentence;
  switch (waiting.reason) {
    case 'ready':
      return words.ready;
    case 'delayed':
      return words.delayed(timeLeft(waiting.until - now));
    case 'retrying':
      return words.retrying(
        waiting.cause === null ? words.failedBefore : t.cause[waiting.cause].name,
        timeLeft(waiting.at - now),
      );
    case 'token-budget':
      return words.tokens(timeLeft(waiting.until - now));
    case 'requests-budget':
      return words.requests(timeLeft(waiting.until - now));
    case 'larger-than-budget':
      return words.larger;
    case 'spend-cap': {
      const [cap, needed] = [money(waiting.capMicros), money(waiting.neededMicros)];
      if (waiting.scope === 'batch' || waiting.until === null) return words.capBatch(cap, needed);
      return waiting.scope === 'day'
        ? words.capDay(cap, clock(waiting.until), needed)
        : words.capMonth(cap, clockOrDay(waiting.until, now), needed);
    }
    case 'price-unknown':
      return words.price(waiting.model);
    case 'behind-high':
      return words.behindHigh;
    case 'queue-paused':
      return words.lanePaused(t.lane[queue]);
    case 'batch-paused':
      return words.batchPaused;
    case 'job-paused':
      return alone ? words.jobPausedAlone : words.jobPaused;
    case 'pilot':
      return waiting.left === 0 ? words.pilotEnded : words.pilotLeft(waiting.left);
    case 'outside-quiet-hours':
      return words.hours(clock(waiting.until));
    case 'circuit-open':
      return `${t.cause[waiting.cause].meaning} ${t.cause[waiting.cause].hint}`;
    case 'offline':
      return words.offline(timeLeft(waiting.until - now));
    case 'uploading':
      return waiting.message === null ? words.uploading : words.uploadingMet(waiting.message);
    case 'filling-batch':
      return words.filling(timeLeft(waiting.until - now));
    case 'batch-api':
      return words.batchApi(`${t.cause[waiting.cause].meaning} ${t.cause[waiting.cause].hint}`);
    case 'file-missing':
      return `${t.cause['file-missing'].meaning} ${t.cause['file-missing'].hint}`;
    case 'no-consumer':
      return t.answer.nowhere;
  }
}
