/**
 * The list of jobs: the rows around what is in sight, what is selected in it, and how its running jobs come on.
 *
 * Of a long list only a window of rows is held, and it follows the eye; what is outside is asked for when it is reached.
 * Rows are keyed by job, so that the table patches what changed and rebuilds nothing.
 */
import { SvelteMap } from 'svelte/reactivity';
import { coalesce } from '../app/coalesce';
import { EVERY_JOB, toProblem, type Backend } from '../backend/backend';
import type { JobFilter } from '../backend/types/JobFilter';
import type { JobId } from '../backend/types/JobId';
import type { JobOrder } from '../backend/types/JobOrder';
import type { JobPhase } from '../backend/types/JobPhase';
import type { JobRows } from '../backend/types/JobRows';
import type { JobView } from '../backend/types/JobView';
import type { Problem } from '../backend/types/Problem';
import type { Selection } from '../backend/types/Selection';

/** How a running job comes on. */
export interface Progress {
  phase: JobPhase;
  outputTokens: number;
  maxTokens: number;
}

/** What is done with a list that nobody has sorted. */
export const NEWEST_FIRST: JobOrder = { by: 'added', descending: true };

/** Rows that are held on either side of what is in sight. */
const MARGIN = 100;
/** So near to the end of what is held, more is asked for. */
const NEAR = 30;
/** The eye may move on while rows are on their way; after so many turns it is left to the next look. */
const MOST_TURNS = 20;
/** A row that left the held rows this far from their end is gone from the list, and was not only pushed out. */
const EDGE = 50;

export class JobList {
  filter = $state.raw<JobFilter>(EVERY_JOB);
  order = $state.raw<JobOrder>(NEWEST_FIRST);
  /** The rows that are held. */
  rows = $state.raw<JobView[]>([]);
  /** The place of the first held row in the list, from 0. */
  start = $state(0);
  total = $state(0);
  /** The first rows of this filter have not arrived yet. */
  loading = $state(true);
  problem = $state.raw<Problem | null>(null);
  focusedId = $state<JobId | null>(null);
  /** The selection is everything that matches, loaded or not. */
  everything = $state(false);
  /** Counts the lists that were shown: another one begins at its top. */
  shows = $state(0);
  /** Rows that came in above what is in sight, less those that left. */
  pushed = $state(0);
  readonly progress = new SvelteMap<JobId, Progress>();

  /** Asks for what is shown anew, soon. */
  readonly refresh = coalesce(() => this.reload());

  /** Where each held job is among the held rows. */
  private readonly placed = $derived(new Map(this.rows.map((row, at) => [row.jobId, at])));
  /** Each selected job as it was seen last; `null` for one that was never seen. */
  private readonly selected = new SvelteMap<JobId, JobView | null>();
  private generation = 0;
  private following = false;
  private range = 0;
  private focusedAt = $state(-1);
  private anchorId: JobId | null = null;
  private anchorAt = 0;
  private firstInSight = 0;
  private lastInSight = 0;

  /** `complain` says what a list that shows rows has no place for. */
  constructor(
    private readonly backend: Backend,
    private readonly complain: (problem: Problem) => void = () => undefined,
  ) {}

  /** The place of the focused job in the list; -1 for none. */
  get focusedIndex(): number {
    return this.focusedId === null ? -1 : this.placeOf(this.focusedId, this.focusedAt);
  }

  /** The focused job, while it is among the held rows. */
  get focused(): JobView | undefined {
    return this.focusedId === null ? undefined : this.held(this.focusedId);
  }

  /** The selected jobs that were seen. */
  get selection(): JobView[] {
    return [...this.selected.values()].filter((job) => job !== null);
  }

  /** Whether all that is selected is among the held rows, and so is known as it is now. */
  get selectionIsHeld(): boolean {
    if (this.everything || this.selected.size > this.rows.length) return false;
    return [...this.selected.keys()].every((jobId) => this.placed.has(jobId));
  }

  get selectedCount(): number {
    return this.everything ? this.total : this.selected.size;
  }

  /** The selection as the engine takes it. */
  get chosen(): Selection {
    return this.everything
      ? { select: 'matching', filter: this.filter }
      : { select: 'jobs', jobIds: [...this.selected.keys()] };
  }

  isSelected(jobId: JobId): boolean {
    return this.everything || this.selected.has(jobId);
  }

  /** The job at a place of the list, if it is held. */
  at(index: number): JobView | undefined {
    return this.rows[index - this.start];
  }

  async show(filter: JobFilter, order: JobOrder = NEWEST_FIRST): Promise<void> {
    this.filter = filter;
    this.order = order;
    this.generation += 1;
    this.loading = true;
    this.everything = false;
    this.firstInSight = 0;
    this.lastInSight = 0;
    this.shows += 1;
    const generation = this.generation;
    await this.reload();
    if (generation !== this.generation) return;
    // What is not listed here is not meant by what is done here.
    for (const jobId of this.selected.keys()) if (!this.held(jobId)) this.selected.delete(jobId);
    if (this.focusedId !== null && !this.held(this.focusedId)) this.focusedAt = -1;
  }

  /** Tells which rows are in sight; asks for those that are not held. */
  see(first: number, last: number): void {
    this.firstInSight = first;
    this.lastInSight = last;
    if (!this.covered) void this.follow();
  }

  /** The job at a place of the list, asked for if it is not held; `undefined` where the list has ended. */
  async reach(index: number): Promise<JobView | undefined> {
    if (index < 0 || index >= this.total) return undefined;
    if (this.at(index) === undefined) {
      const generation = this.generation;
      try {
        this.take(generation, await this.ask(index, index));
      } catch (reason) {
        this.complain(toProblem(reason));
      }
    }
    return this.at(index);
  }

  /** Moves the focus by some rows, and answers the job that has it then; `undefined` at the list's ends. */
  async step(by: number): Promise<JobView | undefined> {
    const job = await this.reach(this.focusedIndex + by);
    if (job) this.focus(job.jobId);
    return job;
  }

  advance(jobId: JobId, progress: Progress): void {
    this.progress.set(jobId, progress);
  }

  /** Moves focus and selection to a row; `extend` selects everything from where the selection began. */
  focus(jobId: JobId, extend = false): void {
    this.everything = false;
    const index = this.placeOf(jobId, this.focusedAt);
    if (extend) {
      const from = this.anchorId === null ? index : this.placeOf(this.anchorId, this.anchorAt);
      this.selectRange(Math.min(from, index), Math.max(from, index));
    } else {
      this.range += 1;
      this.selected.clear();
      this.selected.set(jobId, this.held(jobId) ?? null);
      this.anchorId = jobId;
      this.anchorAt = index;
    }
    this.focusedId = jobId;
    this.focusedAt = index;
  }

  toggle(jobId: JobId): void {
    if (this.everything) {
      // Who takes one out of everything goes on with all the others.
      this.everything = false;
      this.selectRange(0, this.total - 1, jobId);
    } else {
      this.range += 1;
      if (!this.selected.delete(jobId)) this.selected.set(jobId, this.held(jobId) ?? null);
    }
    this.anchorId = jobId;
    this.anchorAt = this.focusedAt = this.placeOf(jobId, this.focusedAt);
    this.focusedId = jobId;
  }

  selectEverything(): void {
    this.everything = true;
  }

  clearSelection(): void {
    this.everything = false;
    this.range += 1;
    this.selected.clear();
  }

  /** Selects the rows from one place to another; those that are not held follow when their ids have come. */
  private selectRange(first: number, last: number, without?: JobId): void {
    this.range += 1;
    const range = this.range;
    this.selected.clear();
    for (const [at, job] of this.rows.entries()) {
      const index = this.start + at;
      if (index >= first && index <= last && job.jobId !== without) this.selected.set(job.jobId, job);
    }
    if (this.at(first) && this.at(last)) return;
    const generation = this.generation;
    this.backend.jobIds(this.filter, this.order, first, last - first + 1).then(
      (jobIds) => {
        if (generation !== this.generation || range !== this.range) return;
        for (const jobId of jobIds)
          if (jobId !== without && !this.selected.has(jobId)) this.selected.set(jobId, null);
      },
      (reason: unknown) => this.complain(toProblem(reason)),
    );
  }

  private held(jobId: JobId): JobView | undefined {
    const at = this.placed.get(jobId);
    return at === undefined ? undefined : this.rows[at];
  }

  private placeOf(jobId: JobId, otherwise: number): number {
    const at = this.placed.get(jobId);
    return at === undefined ? otherwise : this.start + at;
  }

  private get covered(): boolean {
    const end = this.start + this.rows.length;
    const above = this.start === 0 || this.firstInSight - NEAR >= this.start;
    const below = end >= this.total || this.lastInSight + NEAR < end;
    return above && below;
  }

  /** Asks for rows until those in sight are held. */
  private async follow(): Promise<void> {
    if (this.following || this.loading) return;
    this.following = true;
    const { generation } = this;
    try {
      for (let turn = 0; turn < MOST_TURNS && !this.covered && generation === this.generation; turn += 1)
        this.take(generation, await this.ask(this.firstInSight, this.lastInSight));
    } catch (reason) {
      if (generation === this.generation) this.complain(toProblem(reason));
    } finally {
      this.following = false;
    }
  }

  private async reload(): Promise<void> {
    const generation = this.generation;
    try {
      this.take(generation, await this.ask(this.firstInSight, this.lastInSight), true);
      if (generation === this.generation) this.problem = null;
    } catch (reason) {
      if (generation === this.generation) this.problem = toProblem(reason);
    } finally {
      if (generation === this.generation) this.loading = false;
    }
  }

  private async ask(first: number, last: number): Promise<{ start: number; page: JobRows }> {
    const start = Math.max(0, first - MARGIN);
    const size = last - start + 1 + MARGIN;
    return { start, page: await this.backend.jobRows(this.filter, this.order, start, size) };
  }

  /** Holds rows in place of those before; `anew` says that the same place was read again. */
  private take(generation: number, { start, page }: { start: number; page: JobRows }, anew = false): void {
    if (generation !== this.generation) return;
    const before = this.rows;
    const seen = this.at(this.firstInSight);
    if (anew && !this.loading) this.dropGone(before, page.jobs);
    this.rows = page.jobs;
    this.start = start;
    this.total = page.total;
    for (const job of page.jobs) if (this.selected.has(job.jobId)) this.selected.set(job.jobId, job);
    for (const job of page.jobs) if (job.status !== 'running') this.progress.delete(job.jobId);
    if (anew && !this.loading && seen && this.firstInSight > 0) {
      const now = this.placeOf(seen.jobId, this.firstInSight);
      if (now !== this.firstInSight) this.pushed += now - this.firstInSight;
    }
  }

  /** Lets go of selected jobs that the list has no more: what is done next must not reach what nobody sees. */
  private dropGone(before: JobView[], after: JobView[]): void {
    const listed = new Set(after.map((job) => job.jobId));
    before.slice(0, Math.max(0, before.length - (before.length > EDGE * 2 ? EDGE : 0))).forEach((job) => {
      if (!listed.has(job.jobId)) this.selected.delete(job.jobId);
    });
  }
}
