import { afterEach, describe, expect, it } from 'vitest';
import type { CircuitView } from '../../src/backend/types/CircuitView';
import type { Overview } from '../../src/backend/types/Overview';
import { answerOf } from '../../src/queue/answer';
import { speak } from '../../src/text/text.svelte';

function overview(
  change: Partial<Overview> & { running?: number; waiting?: number; paused?: boolean[] } = {},
): Overview {
  const { running = 0, waiting = 0, paused = [false, false], ...rest } = change;
  return {
    counts: { total: 9, waiting, running, done: 0, needsReview: 0, deadLetters: 0, cancelled: 0 },
    lanes: [
      { queue: 'high', paused: paused[0] ?? false, running: 0, waiting: 0, maxConcurrency: 10 },
      { queue: 'bulk', paused: paused[1] ?? false, running, waiting, maxConcurrency: 3 },
    ],
    batches: [],
    consumer: 'here',
    circuits: [],
    answer: waiting > 0 && running === 0 ? 'The next job starts in 42 s.' : null,
    spentTodayMicros: 0,
    requestsLastMinute: 0,
    inputTokensLastMinute: 0,
    outputTokensLastMinute: 0,
    finishedPerMinute: [],
    key: { source: 'keychain', ending: '7Q2f', keychainProblem: null },
    ...rest,
  };
}

const circuit = (cause: CircuitView['cause']): CircuitView => ({
  provider: 'claude',
  cause,
  message: '',
  hint: '',
  openedAt: 0,
  waiting: 3,
});

afterEach(() => speak('en'));

describe('why nothing moves', () => {
  it('is silent when there is nothing to do', () => {
    expect(answerOf(overview())).toBeNull();
  });

  it('says that it moves', () => {
    expect(answerOf(overview({ running: 2, waiting: 5 }))?.reason).toBe('moving');
  });

  it.each([
    ['key-missing', 'add-key'],
    ['key-refused', 'test-key'],
    ['model-not-found', 'choose-model'],
    ['credit-exhausted', 'try-again'],
  ] as const)('gives %s its fix', (cause, fix) => {
    expect(answerOf(overview({ waiting: 3, circuits: [circuit(cause)] }))?.fix?.kind).toBe(fix);
  });

  it('offers to resume the lane that a person paused', () => {
    const answer = answerOf(overview({ waiting: 3, paused: [false, true] }));
    expect(answer?.fix).toMatchObject({ kind: 'resume', queues: ['bulk'] });
  });

  it('does not speak of a paused lane in which nothing waits', () => {
    expect(answerOf(overview({ running: 1, paused: [true, false] }))?.reason).toBe('moving');
  });

  it('names another program that works the queue', () => {
    expect(answerOf(overview({ waiting: 1, consumer: 'elsewhere' }))?.reason).toBe('elsewhere');
  });

  it('uses the engine’s sentence in English and its own in Japanese', () => {
    expect(answerOf(overview({ waiting: 1 }))?.sentence).toBe('The next job starts in 42 s.');
    speak('ja');
    expect(answerOf(overview({ waiting: 1 }))?.sentence).toMatch(/開始時刻/);
  });
});
