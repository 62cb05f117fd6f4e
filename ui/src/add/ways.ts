/** The ways that jobs may go, as cards to choose from, and what fits of them under the caps. Pure. */
import type { CapFit } from '../backend/types/CapFit';
import type { DeliveryForecast } from '../backend/types/DeliveryForecast';
import type { Forecast } from '../backend/types/Forecast';
import type { IconName } from '../components/icons';
import { shortDuration } from '../queue/cells';
import type { Way } from '../queue/way';
import { clockWithDay, money } from '../text/format';
import { t } from '../text/text.svelte';

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
 * The cards: what is asked live is on one, what is handed over at half price on another. Before the forecast is there,
 * `batches` says whether that can be had.
 */
export function cardsOf(forecast: Forecast | null, batches: boolean): Card[] {
  const find = (way: Way): WayShown => ({
    way,
    forecast: forecast?.deliveries.find((each) => each.delivery === way) ?? null,
  });
  const now: Card = { id: 'now', ways: [find('high'), find('bulk')] };
  const batch = find('batch');
  const offered = forecast === null ? batches : batch.forecast !== null;
  return offered ? [now, { id: 'morning', ways: [batch] }] : [now];
}

/** The way that is wanted, of those that are offered: without half price, Bulk call by call. */
export function offeredWay(cards: Card[], wanted: Way): WayShown {
  const ways = cards.flatMap((card) => card.ways);
  const find = (way: Way): WayShown | undefined => ways.find((each) => each.way === way);
  return find(wanted) ?? find('bulk') ?? { way: 'bulk', forecast: null };
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
