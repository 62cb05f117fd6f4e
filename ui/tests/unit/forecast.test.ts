import { beforeEach, describe, expect, it, vi } from 'vitest';
import { TokenCount } from '../../src/add/counting.svelte';
import { readPilot, usualPilot } from '../../src/add/pilot';
import { AddPlan } from '../../src/add/plan.svelte';
import { capAnswer, cardsOf, offeredWay, timeOf } from '../../src/add/ways';
import { freezeClock } from '../../src/app/clock.svelte';
import type { Backend } from '../../src/backend/backend';
import { createBackend } from '../../src/backend/mock';
import type { CapFit } from '../../src/backend/types/CapFit';
import type { Forecast } from '../../src/backend/types/Forecast';
import type { Submission } from '../../src/backend/types/Submission';
import { speak } from '../../src/text/text.svelte';

const NOW = 1_770_000_000_000;
const submission: Submission = {
  name: 'Papers',
  queue: 'bulk',
  delivery: null,
  template: 'pdf-summarize-v4',
  provider: 'claude',
  model: null,
  capMicros: null,
  paused: false,
  variables: {},
  fresh: false,
  pilot: null,
};

let backend: Backend;
const start = (query: string): void => {
  backend = createBackend(new URLSearchParams(query));
};
beforeEach(() => {
  speak('en');
  start('freeze&empty');
  freezeClock(NOW);
});

describe('the ways that jobs may go', () => {
  const forecastOf = async (): Promise<Forecast> => {
    const report = await backend.scan(['/papers/folder']);
    return backend.forecastSubmission(report.scanId, submission);
  };

  it('are live in both lanes and, where that is granted, by morning at half price', async () => {
    const cards = cardsOf(await forecastOf(), false);
    expect(cards.map((card) => [card.id, ...card.ways.map((each) => each.way)])).toEqual([
      ['now', 'high', 'bulk'],
      ['morning', 'batch'],
    ]);
    const live = offeredWay(cards, 'bulk').forecast?.price?.expectedMicros ?? 0;
    expect(offeredWay(cards, 'batch').forecast?.price?.expectedMicros).toBe(Math.ceil(live / 2));
  });

  it('can be chosen before a forecast is there, and go without half price where nobody grants it', async () => {
    expect(offeredWay(cardsOf(null, false), 'high')).toEqual({ way: 'high', forecast: null });
    expect(offeredWay(cardsOf(null, true), 'batch')).toEqual({ way: 'batch', forecast: null });
    start('freeze&empty&endpoint=litellm&baseUrl=http://localhost:4000');
    const cards = cardsOf(await forecastOf(), true);
    expect(cards).toHaveLength(1);
    expect(offeredWay(cards, 'batch').way, 'Bulk is what is left of it').toBe('bulk');
    start('freeze&empty&endpoint=litellm&baseUrl=http://localhost:4000&batchLane');
    expect(cardsOf(await forecastOf(), false), 'a person knows what the address takes').toHaveLength(2);
  });

  it('say a time of day, and only how long it takes while something holds the lane', async () => {
    const [high] = (await forecastOf()).deliveries;
    if (!high) throw new Error('there is always a way');
    const finish = { usuallyAt: NOW + 95_000, atLatest: null, limitedBy: 'answers' as const };
    expect(timeOf({ ...high, finish, obstacle: null }, NOW)).toMatch(/^done \d\d:\d\d$/);
    expect(timeOf({ ...high, finish, obstacle: { reason: 'queue-paused' } }, NOW)).toBe(
      'takes 1:35 once it runs',
    );
    expect(timeOf({ ...high, finish: null }, NOW)).toBe('');
  });
});

describe('what fits under the caps', () => {
  const cap = (
    scope: CapFit['scope'],
    dollars: number,
    jobsExpected: number,
    jobsAtWorst: number,
  ): CapFit => ({
    scope,
    capMicros: dollars * 1_000_000,
    committedMicros: scope === 'batch' ? 0 : 4_180_000,
    jobsExpected,
    jobsAtWorst,
  });

  it('is told of the tightest cap where not all fits', () => {
    expect(capAnswer([cap('batch', 15, 275, 250), cap('day', 40, 488, 480)], 488)).toEqual({
      look: 'retry',
      text: 'More than the cap of $15.00: about 275 of 488 would run',
    });
    expect(capAnswer([cap('day', 20, 488, 412)], 488)).toEqual({
      look: 'wait',
      text: 'Fits as expected; at worst 412 of 488 start within what is left today, $15.82',
    });
  });

  it('is told of the batch and of what is left where all fits, and of no cap at all', () => {
    const caps = [cap('batch', 15, 9, 9), cap('day', 20, 9, 9), cap('month', 600, 9, 9)];
    expect(capAnswer(caps, 9).text).toBe('Fits the cap of $15.00 and what is left today, $15.82');
    expect(capAnswer([], 9).look).toBe('idle');
  });
});

describe('counting tokens', () => {
  it('tells how long the rest takes once the pace is known', () => {
    const count = new TokenCount(
      { ...backend, countTokens: () => new Promise(() => undefined) },
      () => undefined,
    );
    void count.begin(1, submission);
    count.progressed({ counted: 10, countable: 110, files: 120 });
    expect(count.secondsLeft(NOW)).toBeNull();
    freezeClock(NOW + 5000);
    count.progressed({ counted: 60, countable: 110, files: 120 });
    expect(count.secondsLeft(NOW + 5000)).toBe(5);
  });

  it('is ended with the sheet', async () => {
    start('freeze&empty&hold=count');
    const report = await backend.scan(['/papers/folder']);
    const cancel = vi.spyOn(backend, 'cancelCounting');
    const plan = new AddPlan(backend);
    plan.look(report, submission);
    expect(plan.tokens.state).toBe('running');
    plan.end();
    expect(cancel).toHaveBeenCalledOnce();
    expect(plan.tokens.state).toBe('none');
    plan.end();
    expect(cancel, 'what has ended is not ended again').toHaveBeenCalledOnce();
  });

  it('counts anew for another template, and not for another cap', async () => {
    const report = await backend.scan(['/papers/folder']);
    const counted = vi.spyOn(backend, 'countTokens');
    const plan = new AddPlan(backend);
    plan.look(report, submission);
    plan.look(report, { ...submission, capMicros: 5 });
    expect(counted).toHaveBeenCalledOnce();
    plan.look(report, { ...submission, template: 'lease-abstract-v2' });
    expect(counted).toHaveBeenCalledTimes(2);
    await vi.waitFor(() => expect(plan.tokens.state).toBe('done'));
    await vi.waitFor(() => expect(plan.forecast?.input.estimatedJobs).toBe(0));
    plan.end();
  });
});

describe('a pilot before the start', () => {
  it('is proposed so that some files are left, and read so', () => {
    expect([usualPilot(488), usualPilot(3), usualPilot(2)]).toEqual([5, 2, 1]);
    expect(['5', '487', '488', '0', 'x', ''].map((text) => readPilot(text, 488))).toEqual([
      5,
      487,
      null,
      null,
      null,
      null,
    ]);
  });
});
