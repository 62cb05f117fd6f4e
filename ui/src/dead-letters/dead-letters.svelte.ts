/** Dead letters, grouped by cause by the engine. Files are read when their group is opened or selected. */
import { SvelteMap, SvelteSet } from 'svelte/reactivity';
import { coalesce } from '../app/coalesce';
import { EVERY_JOB, toProblem, type Backend } from '../backend/backend';
import type { Cause } from '../backend/types/Cause';
import type { DeadLetterGroup } from '../backend/types/DeadLetterGroup';
import type { JobFilter } from '../backend/types/JobFilter';
import type { JobId } from '../backend/types/JobId';
import type { JobView } from '../backend/types/JobView';
import type { Problem } from '../backend/types/Problem';
import type { Selection } from '../backend/types/Selection';

const PAGE = 500;
/** As many files of a group as are listed; actions on the group reach all of it. */
const LISTED_AT_MOST = 2000;

export class DeadLetters {
  filter = $state.raw<JobFilter>({ ...EVERY_JOB, shown: 'dead-letters' });
  groups = $state.raw<DeadLetterGroup[]>([]);
  loading = $state(true);
  problem = $state.raw<Problem | null>(null);
  /** The selection is everything that matches, listed or not. */
  everything = $state(false);
  readonly opened = new SvelteSet<Cause>();
  /** The files of the groups that were looked into. */
  readonly files = new SvelteMap<Cause, JobView[]>();
  private readonly selected = new SvelteSet<JobId>();

  readonly total = $derived(this.groups.reduce((sum, group) => sum + group.jobs, 0));
  readonly jobs = $derived(this.groups.flatMap((group) => this.files.get(group.cause) ?? []));

  readonly refresh = coalesce(() => this.load());

  constructor(private readonly backend: Backend) {}

  async show(filter: JobFilter): Promise<void> {
    this.filter = filter;
    this.everything = false;
    await this.load();
    const only = this.groups.length === 1 ? this.groups[0] : undefined;
    if (only) await this.open(only.cause);
  }

  async open(cause: Cause): Promise<void> {
    this.opened.add(cause);
    if (!this.files.has(cause)) await this.read(cause);
  }

  close(cause: Cause): void {
    this.opened.delete(cause);
    // What is neither seen nor selected need not be read anew with every change.
    const files = this.files.get(cause) ?? [];
    if (!files.some((job) => this.selected.has(job.jobId))) this.files.delete(cause);
  }

  get selectedCount(): number {
    return this.everything ? this.total : this.selected.size;
  }

  /** The selection as the engine takes it. */
  get chosen(): Selection {
    return this.everything
      ? { select: 'matching', filter: this.filter }
      : { select: 'jobs', jobIds: [...this.selected] };
  }

  /** Everything of one cause, as the engine takes it. */
  of(cause: Cause): Selection {
    return { select: 'matching', filter: { ...this.filter, cause } };
  }

  isSelected(jobId: JobId): boolean {
    return this.everything || this.selected.has(jobId);
  }

  select(jobId: JobId, selected: boolean): void {
    this.leaveEverything();
    if (selected) this.selected.add(jobId);
    else this.selected.delete(jobId);
  }

  /** Selects or unselects a group; its files are read first, since they are what is selected. */
  async selectGroup(cause: Cause, selected: boolean): Promise<void> {
    if (!this.files.has(cause)) await this.read(cause);
    for (const job of this.files.get(cause) ?? []) this.select(job.jobId, selected);
  }

  selectEverything(selected: boolean): void {
    this.selected.clear();
    this.everything = selected;
  }

  /** How much of a group is selected, as a checkbox says it. */
  checkedGroup(group: DeadLetterGroup): 'true' | 'false' | 'mixed' {
    if (this.everything) return 'true';
    const selected = (this.files.get(group.cause) ?? []).filter((job) => this.selected.has(job.jobId)).length;
    if (selected === 0) return 'false';
    return selected === group.jobs ? 'true' : 'mixed';
  }

  get checked(): 'true' | 'false' | 'mixed' {
    if (this.selectedCount === 0) return 'false';
    return this.selectedCount === this.total ? 'true' : 'mixed';
  }

  /** Who takes a file out of everything goes on with what is listed. */
  private leaveEverything(): void {
    if (!this.everything) return;
    this.everything = false;
    for (const job of this.jobs) this.selected.add(job.jobId);
  }

  private async load(): Promise<void> {
    const filter = this.filter;
    try {
      const all = await this.backend.deadLetters();
      const groups = narrows(filter) ? await this.counted(all, filter) : all;
      if (filter !== this.filter) return;
      for (const cause of this.files.keys()) {
        const wanted = groups.some((group) => group.cause === cause);
        if (wanted) await this.read(cause);
        else this.files.delete(cause);
      }
      if (filter !== this.filter) return;
      this.groups = groups;
      this.problem = null;
      const present = new Set(this.jobs.map((job) => job.jobId));
      for (const jobId of this.selected) if (!present.has(jobId)) this.selected.delete(jobId);
    } catch (reason) {
      if (filter === this.filter) this.problem = toProblem(reason);
    } finally {
      this.loading = false;
    }
  }

  /** The groups of what matches: the engine groups all dead letters, and counts a cause within a filter. */
  private async counted(groups: DeadLetterGroup[], filter: JobFilter): Promise<DeadLetterGroup[]> {
    const counted = await Promise.all(
      groups.map(async (group) => {
        const page = await this.backend.jobs({ ...filter, cause: group.cause }, null, 1);
        return { ...group, jobs: page.total };
      }),
    );
    return counted.filter((group) => group.jobs > 0).sort((one, other) => other.jobs - one.jobs);
  }

  private async read(cause: Cause): Promise<void> {
    const filter = this.filter;
    const jobs: JobView[] = [];
    let after: number | null = null;
    do {
      const page = await this.backend.jobs({ ...filter, cause }, after, PAGE);
      if (filter !== this.filter) return;
      jobs.push(...page.jobs);
      after = page.next;
    } while (after !== null && jobs.length < LISTED_AT_MOST);
    this.files.set(cause, jobs);
  }
}

function narrows(filter: JobFilter): boolean {
  return filter.queue !== null || filter.batchId !== null || filter.text !== null;
}
