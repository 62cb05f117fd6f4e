/** The ways that jobs may go, as cards to choose from, and what fits of them under the caps. Pure. */
import type { CapFit } from '../backend/types/CapFit';
import type { DeliveryForecast } from '../backend/types/DeliveryForecast';
import type { Forecast } from '../backend/types/Forecast';
import type { LaneView } from '../backend/types/LaneView';
import type { QueueName } from '../backend/types/QueueName';
import type { IconName } from '../components/icons';
import { shortDuration } from '../queue/cells';
import { clockWithDay, money } from '../text/format';
import { t } from '../text/text.svelte';

export type Way = DeliveryForecast['delivery'];

export interface WayShown {
  way: Way;
  /** `null` until it is there. */
  forecast: DeliveryForecast | null;
}

export interface Card {
  id: 'now' | 'morning';
  ways: WayShown[];
}

/**
 * Whether Bulk is handed over through the provider's batch API, at half price. It is how the lane is set: where it is
 * set so, Bulk means that, and where it is not, nobody is offered what would not happen.
 */
export function goesByBatch(lane: LaneView | undefined): boolean {
  return lane !== undefined && 'delivery' in lane.settings && lane.settings.delivery === 'batch';
}

export const queueOf = (way: Way): QueueName => (way === 'high' ? 'high' : 'bulk');

/** The cards: what is asked live is on one, what is handed over at half price on another. */
export function cardsOf(forecast: Forecast | null, byBatch: boolean): Card[] {
  const find = (way: Way): WayShown => ({
    way,
    forecast: forecast?.deliveries.find((each) => each.delivery === way) ?? null,
  });
  const batch = find('batch');
  if (!byBatch || (forecast !== null && batch.forecast === null)) {
    return [{ id: 'now', ways: [find('high'), find('bulk')] }];
  }
  return [
    { id: 'now', ways: [find('high')] },
    { id: 'morning', ways: [batch] },
  ];
}

/** The way that a lane's jobs go, of those that are offered. */
export function wayOf(cards: Card[], queue: QueueName): WayShown | null {
  const ways = cards.flatMap((card) => card.ways);
  return ways.find((each) => queueOf(each.way) === queue) ?? null;
}

/** When jobs that go this way will have ended; how long they take, while something holds the lane. */
export function timeOf({ delivery, finish, obstacle }: DeliveryForecast, now: number): string {
  if (!finish) return '';
  if (obstacle) return t.forecast.takes(shortDuration(Math.max(0, finish.usuallyAt - now)));
  const time = clockWithDay(finish.usuallyAt, now);
  return delivery === 'batch' ? t.forecast.often(time) : t.forecast.done(time);
}

export interface CapAnswer {
  look: 'done' | 'wait' | 'retry' | 'idle';
  text: string;
}

export const CAP_ICONS: Record<CapAnswer['look'], IconName> = {
  done: 'done',
  wait: 'warn',
  retry: 'warn',
  idle: 'info',
};

const leftOf = (cap: CapFit): number => Math.max(0, cap.capMicros - cap.committedMicros);
const nameOf = (cap: CapFit): string => t.forecast.left[cap.scope](money(leftOf(cap)));

/** What the caps let through: the tightest one where not all fits, else the batch's own and the tightest other. */
export function capAnswer(caps: CapFit[], jobs: number): CapAnswer {
  const tightest = (of: (cap: CapFit) => number, among: CapFit[]): CapFit | undefined =>
    [...among].sort((one, other) => of(one) - of(other) || leftOf(one) - leftOf(other))[0];
  const expected = tightest((cap) => cap.jobsExpected, caps);
  if (expected && expected.jobsExpected < jobs) {
    return { look: 'retry', text: t.forecast.over(nameOf(expected), expected.jobsExpected, jobs) };
  }
  const worst = tightest((cap) => cap.jobsAtWorst, caps);
  if (worst && worst.jobsAtWorst < jobs) {
    return { look: 'wait', text: t.forecast.atWorstOver(nameOf(worst), worst.jobsAtWorst, jobs) };
  }
  const own = caps.find((cap) => cap.scope === 'batch');
  const other = tightest(
    leftOf,
    caps.filter((cap) => cap.scope !== 'batch'),
  );
  const [first, second] = [own, other].filter((cap) => cap !== undefined);
  if (!first) return { look: 'idle', text: t.forecast.noCap };
  const names = second ? t.forecast.and(nameOf(first), nameOf(second)) : nameOf(first);
  return { look: 'done', text: t.forecast.fits(names) };
}
