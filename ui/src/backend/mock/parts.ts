/** Long documents among the played jobs, with what became of their parts. */
import type { JobView } from '../types/JobView';
import type { PartView } from '../types/PartView';
import type { PlayedJob } from './fixtures';

const PART_PAGES = 100;
const TOKENS_PER_PAGE = 2030;

const LONG: { title: string; change: Partial<JobView> }[] = [
  { title: 'no-till_vs_ploughed', change: { pages: 648, parts: { done: 2, total: 7 } } },
  { title: 'biochar_field-trials', change: { pages: 412, parts: { done: 5, total: 5 } } },
  { title: 'deep-rooting-cultivars', change: { pages: 320, parts: { done: 1, total: 4 } } },
  { title: 'cover-crops_SOC', change: { pages: 240, parts: { done: 3, total: 3 } } },
];

/** Makes some of the jobs long ones. */
export function playParts(jobs: PlayedJob[]): void {
  for (const { title, change } of LONG) {
    const job = jobs.find((each) => each.title.startsWith(title));
    if (!job) continue;
    Object.assign(job, change);
    const parts = partsOf(job);
    const sum = (of: (part: PartView) => number): number => parts.reduce((all, part) => all + of(part), 0);
    job.inputTokens = sum((part) => part.inputTokens);
    job.outputTokens = sum((part) => part.outputTokens);
    job.costMicros = sum((part) => part.costMicros ?? 0);
    // Each answered part took one, and so does what is under way or has combined them.
    job.attempts = (job.parts?.done ?? 0) + (job.status === 'pending' ? 0 : 1);
    job.maxAttempts += job.parts?.done ?? 0;
  }
}

export function partsOf(job: JobView): PartView[] {
  if (job.parts === null || job.pages === null) return [];
  const { done, total } = job.parts;
  const { pages } = job;
  return Array.from({ length: total }, (_, at): PartView => {
    const first = at * PART_PAGES + 1;
    const last = Math.min(pages, first + PART_PAGES - 1);
    const answered = at < done;
    const inputTokens = answered ? (last - first + 1) * TOKENS_PER_PAGE : 0;
    const outputTokens = answered ? 640 + at * 37 : 0;
    return {
      pages: { first, last },
      state: answered ? 'answered' : at === done && job.status === 'running' ? 'running' : 'waiting',
      inputTokens,
      outputTokens,
      costMicros: inputTokens * 3 + outputTokens * 15,
      review: answered && at === 1 ? 'The answer stopped at 4,096 tokens: its end is missing.' : null,
    };
  });
}
