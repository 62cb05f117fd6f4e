/** The orders of the played list. */
import type { JobOrder } from '../types/JobOrder';
import type { OrderBy } from '../types/OrderBy';
import type { JobStatus } from '../types/JobStatus';
import type { PlayedJob } from './fixtures';

/** As in the sidebar. */
const STATUSES: JobStatus[] = [
  'running',
  'submitted',
  'pending',
  'needs-review',
  'failed',
  'dead-lettered',
  'completed',
  'cancelled',
];

type Key = (job: PlayedJob) => number | string;

const KEYS: Record<Exclude<OrderBy, 'line'>, Key> = {
  added: (job) => job.number,
  status: (job) => STATUSES.indexOf(job.status),
  title: (job) => job.title.toLowerCase(),
  pages: (job) => job.pages ?? -1,
  cost: (job) => job.costMicros ?? -1,
  ran: (job) => job.ranMs,
};

const isLive = (job: PlayedJob): boolean => job.status === 'running' || job.status === 'submitted';

/** Sorts jobs that are given in the order of their arrival. */
export function inOrder(jobs: PlayedJob[], { by, descending }: JobOrder, runningFirst: boolean): PlayedJob[] {
  if (by === 'line') {
    const ended = (job: PlayedJob): number => job.completedAt ?? 0;
    return [
      ...jobs.filter(isLive).reverse(),
      ...jobs
        .filter((job) => job.status === 'pending')
        .sort((one, other) => lane(one) - lane(other) || one.place - other.place),
      ...jobs
        .filter((job) => !isLive(job) && job.status !== 'pending')
        .sort((one, other) => ended(other) - ended(one)),
    ];
  }
  if (by === 'added') {
    const sorted = descending ? [...jobs].reverse() : jobs;
    if (!runningFirst || !descending) return sorted;
    const running = sorted.filter((job) => job.status === 'running');
    return running.length === 0 ? sorted : [...running, ...sorted.filter((job) => job.status !== 'running')];
  }
  const key = KEYS[by];
  const sign = descending ? -1 : 1;
  return jobs
    .map((job) => [key(job), job] as const)
    .sort(([one, first], [other, second]) => {
      if (one === other) return second.number - first.number;
      return (one < other ? -1 : 1) * sign;
    })
    .map(([, job]) => job);
}

const lane = (job: PlayedJob): number => (job.queue === 'high' ? 0 : 1);
