import { afterEach, describe, expect, it } from 'vitest';
import type { CircuitView } from '../../src/backend/types/CircuitView';
import type { Overview } from '../../src/backend/types/Overview';
import type { ModelNotice } from '../../src/backend/types/ModelNotice';
import type { LaneView } from '../../src/backend/types/LaneView';
import type { WaitingReason } from '../../src/backend/types/WaitingReason';
import { answersOf } from '../../src/flow/answer';
import { speak } from '../../src/text/text.svelte';

const NOW = 1_770_918_120_000;
const NOTHING = { settledMicros: 0, unknownMicros: 0, reservedMicros: 0, capMicros: null };
const EMPTY = { used: 0, limit: null };

const lane = (queue: LaneView['queue'], change: Partial<LaneView>): LaneView => ({
  queue,
  paused: false,
  running: 0,
  submitted: null,
  waiting: 0,
  settings: {
    maxBatchSize: 5,
    maxBatchTimeoutMs: 0,
    maxRetries: 3,
    maxConcurrency: 10,
    deliveryDelayMs: 0,
    delivery: 'each',
    remoteRequests: 1000,
    remoteWaitMs: 60_000,
  },
  obstacle: null,
  answer: null,
  ...change,
});

function overview(
  change: Partial<Overview> & { running?: number; waiting?: number; paused?: boolean[] } = {},
): Overview {
  const { running = 0, waiting = 0, paused = [false, false], ...rest } = change;
  return {
    counts: { total: 9, waiting, running, done: 0, needsReview: 0, deadLetters: 0, cancelled: 0 },
    lanes: [
      lane('high', { paused: paused[0] ?? false }),
      lane('bulk', { paused: paused[1] ?? false, running, waiting }),
    ],
    batches: [],
    consumer: 'here',
    circuits: [],
    answer: waiting > 0 && running === 0 ? 'The next job starts in 42 s.' : null,
    budget: {
      requests: EMPTY,
      inputTokens: EMPTY,
      outputTokens: EMPTY,
      tokens: EMPTY,
      day: NOTHING,
      month: NOTHING,
      dayEndsAt: NOW,
      monthEndsAt: NOW,
    },
    storageProblem: null,
    finishedPerMinute: [],
    uploads: { enabled: false, waiting: 0, oldestAt: null, failed: 0, trouble: null, retryAt: null },
    key: { source: 'keychain', ending: '7Q2f', keychainProblem: null },
    modelNotice: null,
    ...rest,
  };
}

/** The first answer, which is the only one where one thing holds everything. */
const answerOf = (given: Overview) => answersOf(given, NOW)[0] ?? null;

/** An overview in which one lane or both wait for something. */
function held(high: WaitingReason | null, bulk: WaitingReason | null, running = 0): Overview {
  const waiting = (high ? 4 : 0) + (bulk ? 300 : 0);
  return {
    ...overview({ running, waiting }),
    lanes: [
      lane('high', { waiting: high ? 4 : 0, obstacle: high, running }),
      lane('bulk', { waiting: bulk ? 300 : 0, obstacle: bulk }),
    ],
  };
}

const FIXES: Partial<Record<CircuitView['cause'], CircuitView['fix']>> = {
  'key-missing': 'add-key',
  'key-refused': 'test-key',
  'model-not-found': 'choose-model',
  'credit-exhausted': 'open-console',
  offline: 'check-connection',
};

const circuit = (cause: CircuitView['cause']): CircuitView => ({
  provider: 'claude',
  cause,
  message: '',
  hint: '',
  fix: FIXES[cause] ?? 'run-again',
  model: null,
  openedAt: 0,
  probeAt: null,
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

  const ending = (change: Partial<ModelNotice> = {}): ModelNotice => ({
    model: 'claude-opus-4-5',
    lifecycle: 'deprecated',
    retiresOn: '2027-01-22',
    daysLeft: 53,
    successor: 'claude-opus-5-5',
    message: '',
    ...change,
  });

  it('tells of the end of the model below what holds the queue, with what to use instead', () => {
    const [first, second] = answersOf(overview({ running: 1, waiting: 5, modelNotice: ending() }), NOW);
    expect(first?.reason).toBe('moving');
    expect(second?.sentence).toBe('claude-opus-4-5 is retired on Jan 22, 2027, in 53 days.');
    expect(second?.fix).toMatchObject({ kind: 'use-model', model: 'claude-opus-5-5' });
  });

  it('tells of the end of the model also when nothing waits', () => {
    expect(answerOf(overview({ modelNotice: ending({ successor: null }) }))?.fix?.kind).toBe('choose-model');
  });

  it('says once that jobs wait for a model that has ended, with the one that takes its place', () => {
    const notice = ending({ lifecycle: 'retired', daysLeft: 0 });
    const retired = { ...circuit('model-retired'), fix: 'choose-model' as const, model: notice.model };
    const answers = answersOf(overview({ waiting: 3, circuits: [retired], modelNotice: notice }), NOW);
    expect(answers).toHaveLength(1);
    expect(answers[0]?.fix).toMatchObject({ kind: 'use-model', model: 'claude-opus-5-5' });
  });

  it('misses no key where the endpoint wants none', () => {
    const key = { source: 'none' as const, ending: null, keychainProblem: null };
    const [answer] = answersOf(overview({ waiting: 3, key }), NOW, false);
    expect(answer?.reason).toBe('time');
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

const EVERY_REASON: WaitingReason[] = [
  { reason: 'ready' },
  { reason: 'delayed', until: NOW + 14_000 },
  { reason: 'retrying', at: NOW + 14_000, cause: 'overloaded' },
  { reason: 'token-budget', until: NOW + 14_000 },
  { reason: 'requests-budget', until: NOW + 14_000 },
  { reason: 'larger-than-budget' },
  { reason: 'spend-cap', scope: 'day', capMicros: 40_000_000, neededMicros: 41_200_000, until: NOW },
  { reason: 'spend-cap', scope: 'month', capMicros: 40_000_000, neededMicros: 41_200_000, until: NOW },
  { reason: 'spend-cap', scope: 'batch', capMicros: 40_000_000, neededMicros: 41_200_000, until: null },
  { reason: 'price-unknown', model: 'claude-new' },
  { reason: 'behind-high' },
  { reason: 'queue-paused' },
  { reason: 'batch-paused' },
  { reason: 'job-paused' },
  { reason: 'outside-quiet-hours', until: NOW },
  { reason: 'circuit-open', cause: 'credit-exhausted' },
  { reason: 'offline', until: NOW + 14_000 },
  { reason: 'file-missing' },
  { reason: 'no-consumer' },
];

describe('why a lane waits', () => {
  it.each(['en', 'ja'] as const)('is said for every reason, in %s', (language) => {
    speak(language);
    const sentences = EVERY_REASON.map((reason) => answerOf(held(null, reason))?.sentence ?? '');
    expect(sentences.filter((sentence) => sentence.length < 8)).toEqual([]);
    expect(new Set(sentences).size, 'each reason has words of its own').toBe(EVERY_REASON.length);
    const inJapanese = sentences.every((sentence) => /[\u3040-\u30ff\u4e00-\u9fff]/.test(sentence));
    expect(inJapanese).toBe(language === 'ja');
  });

  it('counts down where there is a time', () => {
    const tokens = held({ reason: 'token-budget', until: NOW + 14_000 }, null);
    expect(answersOf(tokens, NOW)[0]?.sentence).toContain('0:14');
    expect(answersOf(tokens, NOW + 5000)[0]?.sentence).toContain('0:09');
    expect(answersOf(tokens, NOW)[0]?.reason, 'a countdown is no news').toBe(
      answersOf(tokens, NOW + 5000)[0]?.reason,
    );
  });

  it('says what raising the cap would allow, and leads to it', () => {
    const answer = answerOf(
      held(null, {
        reason: 'spend-cap',
        scope: 'day',
        capMicros: 40_000_000,
        neededMicros: 41_200_000,
        until: NOW,
      }),
    );
    expect(answer?.sentence).toMatch(/\$40\.00 .*\$41\.20/);
    expect(answer?.fix).toMatchObject({ kind: 'settings', pane: 'limits' });
  });

  it('leads to the batch whose cap is reached', () => {
    const given = held(null, {
      reason: 'spend-cap',
      scope: 'batch',
      capMicros: 5,
      neededMicros: 6,
      until: null,
    });
    const batch = {
      batchId: 'batch-one',
      name: 'Leases',
      createdAt: 0,
      counts: given.counts,
      paused: false,
      money: { ...NOTHING, capMicros: 5 },
      pilot: null,
    };
    expect(answerOf({ ...given, batches: [batch] })?.fix).toMatchObject({
      kind: 'batch-cap',
      batchId: 'batch-one',
    });
  });

  it('gives each lane its own line where they wait for different things', () => {
    const answers = answersOf(
      held({ reason: 'token-budget', until: NOW + 14_000 }, { reason: 'behind-high' }, 2),
      NOW,
    );
    expect(answers.map((answer) => answer.question)).toEqual([
      'Why is High waiting?',
      'Why is Bulk waiting?',
    ]);
  });

  it('says one thing once, though it holds both lanes', () => {
    const offline = { reason: 'offline' as const, until: NOW + 20_000 };
    const answers = answersOf(held(offline, offline), NOW);
    expect(answers.map((answer) => answer.question)).toEqual(['Why is nothing moving?']);
    expect(answers[0]?.fix).toMatchObject({ kind: 'try-again', label: 'Check now' });
  });

  it('says a cap once that holds both lanes', () => {
    const cap = { reason: 'spend-cap' as const, scope: 'day' as const, capMicros: 5_000_000, until: NOW };
    const answers = answersOf(
      held({ ...cap, neededMicros: 6_000_000 }, { ...cap, neededMicros: 7_000_000 }, 1),
      NOW,
    );
    expect(answers.map((answer) => answer.question)).toEqual(['Why do jobs wait?']);
    expect(answers[0]?.sentence).toContain('$6.00');
  });

  it('puts a full disk before everything else', () => {
    const problem = { code: 'storage' as const, message: 'The disk is full.', hint: 'Free some.' };
    const given = overview({ waiting: 3, circuits: [circuit('key-refused')], storageProblem: problem });
    expect(answerOf(given)?.sentence).toBe('The disk is full. Free some.');
  });

  it('says when it looks for a connection again', () => {
    const open = { ...circuit('offline'), probeAt: NOW + 20_000 };
    expect(answerOf(overview({ waiting: 3, circuits: [open] }))?.sentence).toContain('0:20');
  });
});
