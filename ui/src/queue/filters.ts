/** Filters that are needed less often than batch and lane. */
import type { Provider } from '../backend/types/Provider';
import type { Timestamp } from '../backend/types/Timestamp';

/** How long ago a job was added at most. */
export type Added = 'today' | 'week';

export interface MoreFilters {
  /** The template's id, whatever its version. */
  template: string | null;
  provider: Provider | null;
  added: Added | null;
}

export const NO_FILTERS: MoreFilters = { template: null, provider: null, added: null };

const DAYS: Record<Added, number> = { today: 1, week: 7 };

/** The moment since which jobs were added: the beginning of a day where the person lives. */
export function sinceOf(added: Added | null, now: number): Timestamp | null {
  if (added === null) return null;
  const day = new Date(now);
  day.setHours(0, 0, 0, 0);
  day.setDate(day.getDate() - (DAYS[added] - 1));
  return day.getTime();
}
