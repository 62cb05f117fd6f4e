/** "Why is nothing moving?": the one reason that is true, worded, with the control that changes it. */
import type { IconName } from '../components/icons';
import type { Cause } from '../backend/types/Cause';
import type { Overview } from '../backend/types/Overview';
import type { Provider } from '../backend/types/Provider';
import type { QueueName } from '../backend/types/QueueName';
import { language, t } from '../text/text.svelte';
import type { Look } from './status';

export type Fix =
  | { kind: 'add-key' | 'test-key' | 'choose-model'; label: string }
  | { kind: 'resume'; label: string; queues: QueueName[] }
  | { kind: 'try-again'; label: string; provider: Provider };

export interface Answer {
  /** Changes only when the reason does: what a screen reader is told by. */
  reason: string;
  icon: IconName;
  look: Look;
  question: string;
  sentence: string;
  fix: Fix | null;
}

export function answerOf(overview: Overview): Answer | null {
  const { counts, lanes, circuits, consumer, key } = overview;
  const circuit = circuits[0];
  if (consumer === 'elsewhere' && counts.running + counts.waiting > 0) {
    return plain('elsewhere', 'info', 'run', t.answer.elsewhere);
  }
  if (circuit) return circuitAnswer(circuit.cause, circuit.provider);
  if (counts.waiting > 0) {
    if (consumer === 'nowhere') return plain('nowhere', 'stop', 'dead', t.answer.nowhere);
    const held = lanes.filter((lane) => lane.paused && lane.waiting > 0);
    const moves = counts.running > 0 || lanes.some((lane) => !lane.paused && lane.waiting > 0);
    if (held.length > 0) return pausedAnswer(overview, moves);
    if (counts.running === 0 && key.source === 'none' && overview.answer !== null) {
      return {
        ...plain('no-key', 'key', 'dead', t.answer.noKey),
        fix: { kind: 'add-key', label: t.answer.addKey },
      };
    }
  }
  if (counts.running > 0) {
    const slots = lanes.reduce((sum, lane) => sum + lane.maxConcurrency, 0);
    const running = lanes.reduce((sum, lane) => sum + lane.running, 0);
    return {
      reason: 'moving',
      icon: 'running',
      look: 'run',
      question: t.answer.moving,
      sentence: t.answer.movingState(running, slots, counts.waiting),
      fix: null,
    };
  }
  // Neither pause nor circuit nor key: what is left are jobs whose time has not come.
  if (counts.waiting > 0 && overview.answer !== null) {
    return plain('time', 'waiting', 'wait', language() === 'en' ? overview.answer : t.answer.startTimes);
  }
  return null;
}

function plain(reason: string, icon: IconName, look: Look, sentence: string): Answer {
  return { reason, icon, look, question: t.answer.nothing, sentence, fix: null };
}

function circuitAnswer(cause: Cause, provider: Provider): Answer {
  const words = t.cause[cause];
  const answer = {
    ...plain(`circuit-${cause}`, 'stop', 'dead', `${words.meaning} ${words.hint}`),
    fix: { kind: 'try-again', label: t.answer.tryAgain, provider } as Fix,
  };
  if (cause === 'key-missing') {
    return {
      ...answer,
      icon: 'key',
      sentence: t.answer.noKey,
      fix: { kind: 'add-key', label: t.answer.addKey },
    };
  }
  if (cause === 'key-refused' || cause === 'permission-denied') {
    return { ...answer, icon: 'key', fix: { kind: 'test-key', label: t.answer.testKey } };
  }
  if (cause === 'model-not-found') {
    return { ...answer, fix: { kind: 'choose-model', label: t.answer.changeModel } };
  }
  if (cause === 'credit-exhausted' || cause === 'billing-problem' || cause === 'spend-limit-reached') {
    return { ...answer, icon: 'card' };
  }
  return answer;
}

function pausedAnswer(overview: Overview, moves: boolean): Answer {
  const held = overview.lanes.filter((lane) => lane.paused && lane.waiting > 0);
  const waiting = held.reduce((sum, lane) => sum + lane.waiting, 0);
  const queues = held.map((lane) => lane.queue);
  const only = held.length === 1 ? held[0] : undefined;
  return {
    ...plain(`paused-${queues.join('-')}`, 'paused', 'idle', t.answer.bothPaused(waiting)),
    ...(only ? { sentence: t.answer.onePaused(t.lane[only.queue], waiting) } : {}),
    ...(only && moves ? { question: t.answer.laneWaiting(t.lane[only.queue]) } : {}),
    fix: { kind: 'resume', label: t.answer.resume, queues },
  };
}
