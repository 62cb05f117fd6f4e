/**
 * The list of jobs: what is loaded of it, what is selected in it, and how its running jobs come on.
 *
 * Rows are replaced one by one and keyed by job, so that the table patches what changed and rebuilds nothing.
 */
import { SvelteMap, SvelteSet } from 'svelte/reactivity';
import { coalesce } from '../app/coalesce';
import { EVERY_JOB, toProblem, type Backend } from '../backend/backend';
import type { JobFilter } from '../backend/types/JobFilter';
import type { JobId } from '../backend/types/JobId';
import type { JobPhase } from '../backend/types/JobPhase';
import type { JobView } from '../backend/types/JobView';
import type { Problem } from '../backend/types/Problem';
import type { Selection } from '../backend/types/Selection';

/** How a running job comes on. */
export interface Progress {
  phase: JobPhase;
  outputTokens: number;
  maxTokens: number;
}

/** One page of the list as it was asked for. */
interface LoadedPage {
  after: number | null;
  size: number;
}

const PAGE = 100;
/** Up to this many loaded rows a refresh reads them all anew; beyond, only the pages in sight. */
const WHOLE_REFRESH = 300;
/** More than can run at once. */
const RUNNING_AT_MOST = 64;

export class JobList {
  filter = $state.raw<JobFilter>(EVERY_JOB);
  rows = $state.raw<JobView[]>([]);
  total = $state(0);
  /** The first page of this filter has not arrived yet. */
  loading = $state(true);
  problem = $state.raw<Problem | null>(null);
  focusedId = $state<JobId | null>(null);
  /** The selection is everything that matches, loaded or not. */
  everything = $state(false);
  readonly progress = new SvelteMap<JobId, Progress>();

  /** Asks for what is shown anew, soon. */
  readonly refresh = coalesce(() => this.reload());

  private readonly selected = new SvelteSet<JobId>();
  private listed: JobView[] = [];
  private running: JobView[] = [];
  private pages: LoadedPage[] = [];
  private next: number | null = null;
  private generation = 0;
  private loadingMore = false;
  private anchorId: JobId | null = null;
  private firstInSight = 0;
  private lastInSight = 0;

  constructor(private readonly backend: Backend) {}

  get focusedIndex(): number {
    return this.focusedId === null ? -1 : this.rows.findIndex((row) => row.jobId === this.focusedId);
  }

  /** The selected rows that are loaded, in the order of the list. */
  get selection(): JobView[] {
    return this.rows.filter((row) => this.isSelected(row.jobId));
  }

  get selectedCount(): number {
    return this.everything ? this.total : this.selection.length;
  }

  /** The selection as the engine takes it. */
  get chosen(): Selection {
    return this.everything
      ? { select: 'matching', filter: this.filter }
      : { select: 'jobs', jobIds: this.selection.map((row) => row.jobId) };
  }

  isSelected(jobId: JobId): boolean {
    return this.everything || this.selected.has(jobId);
  }

  /** Whether more rows match than are loaded. */
  get more(): boolean {
    return this.rows.length < this.total;
  }

  show(filter: JobFilter): Promise<void> {
    this.filter = filter;
    this.generation += 1;
    this.pages = [];
    this.loading = true;
    this.everything = false;
    this.firstInSight = 0;
    this.lastInSight = 0;
    return this.reload();
  }

  /** Tells which rows are in sight; loads more when the end comes near. */
  see(first: number, last: number): void {
    this.firstInSight = first;
    this.lastInSight = last;
    if (last > this.rows.length - PAGE / 2) void this.loadMore();
  }

  advance(jobId: JobId, progress: Progress): void {
    this.progress.set(jobId, progress);
  }

  /** Moves focus and selection to a row; `extend` selects everything from where the selection began. */
  focus(jobId: JobId, extend = false): void {
    this.everything = false;
    if (extend) {
      const from = this.rows.findIndex((row) => row.jobId === (this.anchorId ?? this.focusedId ?? jobId));
      const to = this.rows.findIndex((row) => row.jobId === jobId);
      this.selected.clear();
      for (const row of this.rows.slice(Math.min(from, to), Math.max(from, to) + 1))
        this.selected.add(row.jobId);
    } else {
      this.anchorId = jobId;
      this.selected.clear();
      this.selected.add(jobId);
    }
    this.focusedId = jobId;
  }

  toggle(jobId: JobId): void {
    if (this.everything) {
      // Who takes one out of everything goes on with what is listed.
      for (const row of this.rows) this.selected.add(row.jobId);
      this.everything = false;
    }
    if (!this.selected.delete(jobId)) this.selected.add(jobId);
    this.anchorId = jobId;
    this.focusedId = jobId;
  }

  selectEverything(): void {
    this.everything = true;
  }

  clearSelection(): void {
    this.everything = false;
    this.selected.clear();
  }

  private async reload(): Promise<void> {
    const generation = this.generation;
    try {
      const loaded = this.listed.length;
      if (this.pages.length > 0 && loaded > WHOLE_REFRESH) await this.refreshInSight(generation);
      else await this.readFromTop(generation, this.pages.length > 0 ? Math.max(PAGE, loaded) : PAGE);
      if (generation === this.generation) this.problem = null;
    } catch (reason) {
      if (generation === this.generation) this.problem = toProblem(reason);
    } finally {
      if (generation === this.generation) this.loading = false;
    }
  }

  private async readFromTop(generation: number, size: number): Promise<void> {
    const [page, running] = await Promise.all([
      this.backend.jobs(this.filter, null, size),
      this.filter.shown === 'all'
        ? this.backend.jobs({ ...this.filter, shown: 'running' }, null, RUNNING_AT_MOST)
        : null,
    ]);
    if (generation !== this.generation) return;
    this.pages = [{ after: null, size }];
    this.next = page.next;
    this.running = running?.jobs ?? [];
    this.listed = page.jobs;
    this.publish(page.total);
  }

  /** Far down a long list: patches the pages in sight and the running jobs, and leaves the rest as it is. */
  private async refreshInSight(generation: number): Promise<void> {
    const wanted: LoadedPage[] = [];
    let start = this.running.length;
    for (const page of this.pages) {
      if (start <= this.lastInSight && start + page.size > this.firstInSight) wanted.push(page);
      start += page.size;
    }
    const [running, ...fresh] = await Promise.all([
      this.backend.jobs({ ...this.filter, shown: 'running' }, null, RUNNING_AT_MOST),
      ...wanted.map((page) => this.backend.jobs(this.filter, page.after, page.size)),
    ]);
    if (generation !== this.generation) return;
    const newer = new Map(fresh.flatMap((page) => page.jobs).map((row) => [row.jobId, row]));
    this.listed = this.listed.map((row) => newer.get(row.jobId) ?? row);
    if (this.filter.shown === 'all') this.running = running.jobs;
    this.publish(fresh[0]?.total ?? this.total);
  }

  private async loadMore(): Promise<void> {
    if (this.loadingMore || this.next === null || this.pages.length === 0) return;
    this.loadingMore = true;
    const generation = this.generation;
    const after = this.next;
    try {
      const page = await this.backend.jobs(this.filter, after, PAGE);
      if (generation !== this.generation || after !== this.next) return;
      this.pages.push({ after, size: PAGE });
      this.next = page.next;
      this.listed = [...this.listed, ...page.jobs];
      this.publish(page.total);
    } catch (reason) {
      this.problem = toProblem(reason);
    } finally {
      this.loadingMore = false;
    }
  }

  /** Running jobs come first: a person who opens the window wants to see what moves. */
  private publish(total: number): void {
    const seen = new Set<JobId>();
    this.rows = [...this.running, ...this.listed].filter((row) => {
      if (seen.has(row.jobId)) return false;
      seen.add(row.jobId);
      return true;
    });
    this.total = Math.max(total, this.rows.length);
    for (const jobId of this.progress.keys()) {
      if (this.rows.some((row) => row.jobId === jobId && row.status !== 'running'))
        this.progress.delete(jobId);
    }
  }
}
