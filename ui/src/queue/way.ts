/** The way that a job goes: its lane, and in Bulk whether by a call of its own or by the batch API at half price. Pure. */
import type { Delivery } from '../backend/types/Delivery';
import type { DeliveryWay } from '../backend/types/DeliveryWay';
import type { EndpointView } from '../backend/types/EndpointView';
import type { LaneView } from '../backend/types/LaneView';
import type { Overview } from '../backend/types/Overview';
import type { QueueName } from '../backend/types/QueueName';
import type { RetryChanges } from '../backend/types/RetryChanges';
import type { IconName } from '../components/icons';
import { t } from '../text/text.svelte';

export type Way = DeliveryWay;

export interface Going {
  queue: QueueName;
  delivery: Delivery;
}

/** What jobs that go this way are told. */
export const goingOf = (way: Way): Going => ({
  queue: way === 'high' ? 'high' : 'bulk',
  delivery: way === 'batch' ? 'batch' : 'each',
});

export function wayOf({ queue, delivery }: Going): Way {
  if (queue === 'high') return 'high';
  return delivery === 'batch' ? 'batch' : 'bulk';
}

export const WAY_ICONS: Record<Way, IconName> = { high: 'high', bulk: 'bulk', batch: 'moon' };

export const wayName = (way: Way): string => (way === 'batch' ? t.lane.half : t.lane[way]);

/** How new jobs of a lane go where nobody says otherwise. */
export function usualWay(lanes: LaneView[], queue: QueueName): Way {
  const lane = lanes.find((each) => each.queue === queue);
  return wayOf({ queue, delivery: lane?.settings.delivery ?? 'each' });
}

/** Whether half price can be had: where Claude is asked says so, or a person knows it and has set Bulk to it. */
export function takesBatches(of: { endpoint: EndpointView; overview: Overview }): boolean {
  return of.endpoint.abilities.batches || usualWay(of.overview.lanes, 'bulk') === 'batch';
}

/** The way that changes name; `null` where jobs go as before. */
export function changedWay({ queue, delivery }: RetryChanges): Way | null {
  if (queue === null && delivery === null) return null;
  return wayOf({ queue: queue ?? 'bulk', delivery: delivery ?? 'each' });
}

/** Changes by which jobs go a way, or as before. */
export const changesTo = (way: Way | null): Pick<RetryChanges, 'queue' | 'delivery'> =>
  way === null ? { queue: null, delivery: null } : goingOf(way);
