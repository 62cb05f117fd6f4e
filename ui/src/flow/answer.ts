/** "Why is nothing moving?": the reasons that are true, worded, each with the control that changes it. */
import type { SettingsPane } from '../app/app.svelte';
import { sayProblem } from '../app/toasts.svelte';
import type { IconName } from '../components/icons';
import type { BatchId } from '../backend/types/BatchId';
import type { CircuitView } from '../backend/types/CircuitView';
import type { Fix as CauseFix } from '../backend/types/Fix';
import type { LaneView } from '../backend/types/LaneView';
import type { ModelNotice } from '../backend/types/ModelNotice';
import type { Overview } from '../backend/types/Overview';
import type { Provider } from '../backend/types/Provider';
import type { QueueName } from '../backend/types/QueueName';
import type { WaitingReason } from '../backend/types/WaitingReason';
import { sayEnd } from '../models/notice';
import type { Look } from '../queue/status';
import { needsWord, waitedFor } from '../pilot/pilot.svelte';
import { waitingSentence } from '../queue/waiting';
import { liveOf } from '../sidebar/parts';
import { clock } from '../text/format';
import { language, t } from '../text/text.svelte';

export type Fix =
  | { kind: 'add-key' | 'test-key' | 'choose-model' | 'settings'; label: string; pane: SettingsPane }
  | { kind: 'use-model'; label: string; model: string }
  | { kind: 'resume'; label: string; queues: QueueName[] }
  | { kind: 'resume-batch' | 'batch-cap' | 'pilot'; label: string; batchId: BatchId }
  | { kind: 'resume-jobs'; label: string; queue: QueueName }
  | { kind: 'try-again'; label: string; provider: Provider }
  | { kind: 'look-again'; label: string };

export interface Answer {
  /** Changes only when the reason does: what a screen reader is told by. */
  reason: string;
  icon: IconName;
  look: Look;
  question: string;
  sentence: string;
  /** Where there is something to be done. */
  fix: Fix | null;
}

/** What keeps the queue from moving, the hardest reason first; that it moves, when nothing does; then what is to come. */
export function answersOf(
  overview: Overview,
  now: number,
  lacksKey = overview.key.source === 'none',
): Answer[] {
  return [...reasonsOf(overview, now, lacksKey), ...endOfModel(overview)];
}

/** The end of the model that new jobs ask for, unless jobs wait for that already. */
function endOfModel({ modelNotice, circuits, storageProblem }: Overview): Answer[] {
  const waits = circuits.some(({ cause }) => cause === 'model-retired' || cause === 'model-not-found');
  if (modelNotice === null || waits || storageProblem !== null) return [];
  const { model, lifecycle, successor } = modelNotice;
  const retired = lifecycle === 'retired';
  return [
    {
      reason: `model-${lifecycle}-${model}`,
      icon: retired ? 'stop' : 'timer',
      look: retired ? 'dead' : 'wait',
      question: retired ? t.models.end.retiredQuestion : t.models.end.question,
      sentence: sayEnd(modelNotice),
      fix:
        successor === null
          ? { kind: 'choose-model', label: t.answer.changeModel, pane: 'models' }
          : { kind: 'use-model', label: t.models.useThis(successor), model: successor },
    },
  ];
}

function reasonsOf(overview: Overview, now: number, lacksKey: boolean): Answer[] {
  const { counts, lanes, circuits, consumer, storageProblem } = overview;
  const nothing = counts.running === 0;
  if (storageProblem) {
    const words = sayProblem(storageProblem);
    return [
      {
        ...plain('storage', 'warn', 'dead', sentences(words.title, words.hint)),
        fix: { kind: 'look-again', label: t.answer.lookAgain },
      },
    ];
  }
  if (consumer === 'elsewhere' && counts.running + counts.waiting > 0) {
    return [plain('elsewhere', 'info', 'run', t.answer.elsewhere)];
  }
  if (consumer === 'nowhere' && counts.waiting > 0) {
    return [plain('nowhere', 'stop', 'dead', t.answer.nowhere)];
  }
  if (circuits.length > 0) {
    return circuits.map((circuit) => ({
      ...circuitAnswer(circuit, now, overview.modelNotice),
      question: nothing ? t.answer.nothing : t.answer.someWait,
    }));
  }
  const held = lanes.filter(
    (lane) => lane.waiting > 0 && (lane.paused || (lane.obstacle !== null && !(isReady(lane) && !nothing))),
  );
  const answers = held.map((lane) => laneAnswer(overview, lane, now));
  const pilots = answers.some((answer) => answer.reason === 'pilot') ? [] : pilotAnswers(overview);
  const lost = troubles(overview);
  if (answers.length > 0) return [...together(overview, answers, held), ...lost, ...pilots];
  if (!nothing) return [...(lost.length > 0 ? lost : [atProvider(overview) ?? moving(overview)]), ...pilots];
  return counts.waiting > 0 && overview.answer !== null ? [unsaid(overview, lacksKey)] : [];
}

/** Two sentences as one text; a title may come without its full stop. */
function sentences(title: string, hint: string): string {
  const ended = /[.!?。]$/.test(title) ? title : `${title}${t.common.fullStop}`;
  return ended.endsWith('.') ? `${ended} ${hint}` : `${ended}${hint}`;
}

function plain(reason: string, icon: IconName, look: Look, sentence: string): Answer {
  return { reason, icon, look, question: t.answer.nothing, sentence, fix: null };
}

/** Pilots that have ended while other things move: nobody would look for them. */
function pilotAnswers(overview: Overview): Answer[] {
  return overview.batches.filter(needsWord).map((batch) => ({
    ...plain(`pilot-${batch.batchId}`, 'info', 'wait', t.pilot.sentence(waitedFor(batch)?.waiting ?? 0)),
    question: t.pilot.question(batch.name),
    fix: { kind: 'pilot', label: t.pilot.see, batchId: batch.batchId },
  }));
}

/** What can't be learned of jobs that are with the batch API, in the engine's own words. */
function troubles({ lanes }: Overview): Answer[] {
  return lanes.flatMap(({ submitted }) =>
    submitted?.trouble
      ? [{ ...plain('sent-trouble', 'warn', 'retry', submitted.trouble), question: t.answer.sentTrouble }]
      : [],
  );
}

/** Where all that runs is with the batch API: that takes its time. */
function atProvider({ lanes }: Overview): Answer | null {
  const [first, ...others] = lanes.flatMap(({ submitted }) => submitted ?? []);
  if (!first || lanes.some((lane) => liveOf(lane) > 0)) return null;
  const jobs = others.reduce((sum, each) => sum + each.jobs, first.jobs);
  return {
    ...plain('sent', 'moon', 'sent', t.answer.sentState(jobs, clock(first.since))),
    question: t.answer.sent,
  };
}

function moving(overview: Overview): Answer {
  const { lanes, counts } = overview;
  const slots = lanes.reduce((sum, lane) => sum + lane.settings.maxConcurrency, 0);
  const running = lanes.reduce((sum, lane) => sum + liveOf(lane), 0);
  return {
    ...plain('moving', 'running', 'run', t.answer.movingState(running, slots, counts.waiting)),
    question: t.answer.moving,
  };
}

/** Jobs wait and no lane says why: the engine's own sentence is the best there is. */
function unsaid(overview: Overview, lacksKey: boolean): Answer {
  if (lacksKey) return keyMissing();
  const sentence = language() === 'en' ? overview.answer : null;
  return plain('time', 'waiting', 'wait', sentence ?? t.answer.startTimes);
}

function keyMissing(): Answer {
  return {
    ...plain('no-key', 'key', 'dead', t.answer.noKey),
    fix: { kind: 'add-key', label: t.answer.addKey, pane: 'models' },
  };
}

/** One line for each lane, or one for both where they wait for the same thing. */
function together(overview: Overview, answers: Answer[], held: LaneView[]): Answer[] {
  const [first, second] = answers;
  const nothing = overview.counts.running === 0 && held.length === waitingLanes(overview).length;
  if (first && second && first.reason === 'paused' && second.reason === 'paused') {
    const waiting = held.reduce((sum, lane) => sum + lane.waiting, 0);
    const sent = overview.lanes.reduce((sum, lane) => sum + (lane.submitted?.jobs ?? 0), 0);
    const paused = t.answer.bothPaused(waiting);
    const queues = held.map((lane) => lane.queue);
    return [
      {
        ...first,
        question: t.answer.nothing,
        sentence: sent === 0 ? paused : sentences(paused, t.answer.sentGoOn(sent)),
        fix: { kind: 'resume', label: t.answer.resume, queues },
      },
    ];
  }
  // Pausing is each lane's own; anything else that is equal is one thing.
  if (first && second && first.reason === second.reason && first.fix?.kind !== 'resume-jobs') {
    return [{ ...first, question: nothing ? t.answer.nothing : t.answer.someWait }];
  }
  if (first && !second && nothing) return [{ ...first, question: t.answer.nothing }];
  return answers;
}

/** Whether only a free slot is missing, which is no obstacle while others run. */
function isReady(lane: LaneView): boolean {
  return lane.obstacle?.reason === 'ready';
}

function waitingLanes(overview: Overview): LaneView[] {
  return overview.lanes.filter((lane) => lane.waiting > 0);
}

function laneAnswer(overview: Overview, lane: LaneView, now: number): Answer {
  const question = t.answer.laneWaiting(t.lane[lane.queue]);
  const obstacle = lane.paused ? { reason: 'queue-paused' as const } : lane.obstacle;
  if (obstacle === null || obstacle.reason === 'queue-paused') {
    return {
      ...plain('paused', 'paused', 'idle', t.answer.onePaused(t.lane[lane.queue], lane.waiting)),
      question,
      fix: { kind: 'resume', label: t.answer.resume, queues: [lane.queue] },
    };
  }
  if (obstacle.reason === 'circuit-open' && obstacle.cause === 'key-missing') {
    return { ...keyMissing(), question };
  }
  return {
    ...plain(reasonOf(obstacle), ...lookOf(obstacle), waitingSentence(obstacle, lane.queue, now, false)),
    question,
    fix: fixOf(overview, lane.queue, obstacle),
  };
}

/** Names the reason without what changes from one moment or one job to the next. */
function reasonOf(obstacle: WaitingReason): string {
  switch (obstacle.reason) {
    case 'spend-cap':
      return `${obstacle.reason}-${obstacle.scope}-${obstacle.capMicros}`;
    case 'price-unknown':
      return `${obstacle.reason}-${obstacle.model}`;
    case 'circuit-open':
      return `${obstacle.reason}-${obstacle.cause}`;
    case 'retrying':
      return `${obstacle.reason}-${obstacle.cause}`;
    default:
      return obstacle.reason;
  }
}

function lookOf(obstacle: WaitingReason): [IconName, Look] {
  switch (obstacle.reason) {
    case 'spend-cap':
      return ['card', 'dead'];
    case 'price-unknown':
      return ['card', 'wait'];
    case 'circuit-open':
      return ['stop', 'dead'];
    case 'offline':
      return ['offline', 'retry'];
    case 'retrying':
      return ['retry', 'retry'];
    case 'file-missing':
      return ['file', 'dead'];
    case 'no-consumer':
      return ['stop', 'dead'];
    case 'queue-paused':
    case 'batch-paused':
    case 'job-paused':
    case 'pilot':
      return ['paused', 'idle'];
    case 'outside-quiet-hours':
    case 'filling-batch':
      return ['moon', 'idle'];
    case 'batch-api':
      return ['moon', 'retry'];
    default:
      return ['waiting', 'wait'];
  }
}

function fixOf(overview: Overview, queue: QueueName, obstacle: WaitingReason): Fix | null {
  switch (obstacle.reason) {
    case 'token-budget':
    case 'requests-budget':
    case 'larger-than-budget':
      return { kind: 'settings', label: t.answer.changeLimit, pane: 'limits' };
    case 'spend-cap': {
      if (obstacle.scope !== 'batch') return { kind: 'settings', label: t.answer.raiseCap, pane: 'limits' };
      const { capMicros } = obstacle;
      const batch = overview.batches.find(
        (each) => each.money.capMicros === capMicros && each.counts.waiting > 0,
      );
      return batch ? { kind: 'batch-cap', label: t.answer.raiseCap, batchId: batch.batchId } : null;
    }
    case 'price-unknown':
      return { kind: 'settings', label: t.answer.setPrice, pane: 'prices' };
    case 'batch-paused': {
      const [batch, ...more] = overview.batches.filter((each) => each.paused && each.counts.waiting > 0);
      return batch && more.length === 0
        ? { kind: 'resume-batch', label: t.answer.resume, batchId: batch.batchId }
        : null;
    }
    case 'job-paused':
      return { kind: 'resume-jobs', label: t.answer.resume, queue };
    case 'pilot': {
      const batch = overview.batches.find((each) => waitedFor(each)?.left === obstacle.left);
      return batch ? { kind: 'pilot', label: t.pilot.see, batchId: batch.batchId } : null;
    }
    case 'outside-quiet-hours':
      return { kind: 'settings', label: t.answer.changeHours, pane: 'limits' };
    case 'batch-api':
      return { kind: 'settings', label: t.answer.changeDelivery, pane: 'lanes' };
    case 'offline':
      return { kind: 'try-again', label: t.answer.checkNow, provider: 'claude' };
    default:
      return null;
  }
}

function circuitAnswer(circuit: CircuitView, now: number, notice: ModelNotice | null): Answer {
  const { cause, provider, probeAt } = circuit;
  if (cause === 'key-missing') return keyMissing();
  if (cause === 'offline') {
    const waiting = { reason: 'offline' as const, until: probeAt ?? now };
    return {
      ...plain('circuit-offline', 'offline', 'retry', waitingSentence(waiting, 'bulk', now, false)),
      fix: { kind: 'try-again', label: t.answer.checkNow, provider },
    };
  }
  const words = t.cause[cause];
  const icon = circuit.fix === 'open-console' ? 'card' : circuit.fix === 'test-key' ? 'key' : 'stop';
  return {
    ...plain(`circuit-${cause}`, icon, 'dead', `${words.meaning} ${words.hint}`),
    fix:
      circuit.fix === 'choose-model' && notice !== null && notice.model === circuit.model && notice.successor
        ? { kind: 'use-model', label: t.models.useThis(notice.successor), model: notice.successor }
        : circuitFix(circuit.fix, provider),
  };
}

/** What removes the cause, or what shows that it is gone. */
function circuitFix(fix: CauseFix, provider: Provider): Fix {
  switch (fix) {
    case 'add-key':
      return { kind: 'add-key', label: t.answer.addKey, pane: 'models' };
    case 'test-key':
      return { kind: 'test-key', label: t.answer.testKey, pane: 'models' };
    case 'choose-model':
      return { kind: 'choose-model', label: t.answer.changeModel, pane: 'models' };
    default:
      return { kind: 'try-again', label: t.answer.tryAgain, provider };
  }
}
