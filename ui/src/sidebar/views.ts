import type { IconName } from '../components/icons';
import type { JobCounts } from '../backend/types/JobCounts';
import type { JobsShown } from '../backend/types/JobsShown';

/** The views of the sidebar in the order of the keys 1 to 6. */
export const VIEWS: { shown: JobsShown; icon: IconName; count: keyof JobCounts }[] = [
  { shown: 'all', icon: 'all', count: 'total' },
  { shown: 'running', icon: 'running', count: 'running' },
  { shown: 'waiting', icon: 'waiting', count: 'waiting' },
  { shown: 'needs-review', icon: 'review', count: 'needsReview' },
  { shown: 'dead-letters', icon: 'dead', count: 'deadLetters' },
  { shown: 'done', icon: 'done', count: 'done' },
];
