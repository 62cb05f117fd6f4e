/** Dead letters, grouped by cause. */
import { SvelteSet } from 'svelte/reactivity';
import { coalesce } from '../app/coalesce';
import { groupBy } from '../app/group';
import type { Toasts } from '../app/toasts.svelte';
import { EVERY_JOB, toProblem, type Backend } from '../backend/backend';
import type { Cause } from '../backend/types/Cause';
import type { JobFilter } from '../backend/types/JobFilter';
import type { JobId } from '../backend/types/JobId';
import type { JobView } from '../backend/types/JobView';
import type { Problem } from '../backend/types/Problem';
import { t } from '../text/text.svelte';

export interface CauseGroup {
  cause: Cause;
  jobs: JobView[];
}

const PAGE = 500;
/** As many as are listed; the rest is still reached by "Run all again", which works in the engine. */
const LISTED_AT_MOST = 2000;

export class DeadLetters {
  filter = $state.raw<JobFilter>({ ...EVERY_JOB, shown: 'dead-letters' });
  jobs = $state.raw<JobView[]>([]);
  total = $state(0);
  loading = $state(true);
  problem = $state.raw<Problem | null>(null);
  readonly selected = new SvelteSet<JobId>();
  readonly opened = new SvelteSet<Cause>();

  readonly groups = $derived.by((): CauseGroup[] => {
    // A dead letter always has a cause; one without would be the engine's defect and is shown as such.
    const groups = groupBy(this.jobs, (job): Cause => job.cause ?? 'unexpected-status');
    return [...groups]
      .map(([cause, jobs]) => ({ cause, jobs }))
      .sort((one, other) => other.jobs.length - one.jobs.length);
  });

  readonly refresh = coalesce(() => this.load());

  constructor(
    private readonly backend: Backend,
    private readonly toasts: Toasts,
  ) {}

  async show(filter: JobFilter): Promise<void> {
    this.filter = filter;
    await this.load();
    const only = this.groups.length === 1 ? this.groups[0] : undefined;
    if (only) this.opened.add(only.cause);
  }

  /** Selects or unselects all of `jobs`. */
  select(jobs: JobView[], selected: boolean): void {
    for (const job of jobs) {
      if (selected) this.selected.add(job.jobId);
      else this.selected.delete(job.jobId);
    }
  }

  /** How many of `jobs` are selected, as a checkbox says it. */
  checked(jobs: JobView[]): 'true' | 'false' | 'mixed' {
    const selected = jobs.filter((job) => this.selected.has(job.jobId)).length;
    if (selected === 0) return 'false';
    return selected === jobs.length ? 'true' : 'mixed';
  }

  runAgain(jobIds: JobId[]): Promise<boolean> {
    return this.run(() => this.backend.retry(jobIds));
  }

  /** Every one that matches, listed or not. */
  runAllAgain(): Promise<boolean> {
    return this.run(() => this.backend.retryMatching(this.filter));
  }

  private run(command: () => Promise<number>): Promise<boolean> {
    return this.toasts.attempt(async () => {
      const changed = await command();
      this.toasts.done(t.done.runAgain(changed));
      await this.load();
    });
  }

  private async load(): Promise<void> {
    const filter = this.filter;
    try {
      const jobs: JobView[] = [];
      let after: number | null = null;
      let total = 0;
      do {
        const page = await this.backend.jobs(filter, after, PAGE);
        if (filter !== this.filter) return;
        jobs.push(...page.jobs);
        total = page.total;
        after = page.next;
      } while (after !== null && jobs.length < LISTED_AT_MOST);
      this.jobs = jobs;
      this.total = total;
      this.problem = null;
      const present = new Set(jobs.map((job) => job.jobId));
      for (const jobId of this.selected) if (!present.has(jobId)) this.selected.delete(jobId);
    } catch (reason) {
      if (filter === this.filter) this.problem = toProblem(reason);
    } finally {
      this.loading = false;
    }
  }
}
