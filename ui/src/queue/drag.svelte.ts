/**
 * Rows dragged by the pointer: within the line to another place in it, or onto a lane. Pointer events, since the system's own
 * drag of files takes those of the browser away.
 */
import type { App } from '../app/app.svelte';
import type { JobView } from '../backend/types/JobView';
import type { Place } from '../backend/types/Place';
import type { QueueName } from '../backend/types/QueueName';
import { t } from '../text/text.svelte';

/** A press that moves less is a click. */
const SLACK_PX = 5;
/** Near the list's edges it scrolls by itself. */
const EDGE_PX = 36;
const SCROLL_PX = 12;

/** Where the list lies, and how far it is scrolled. */
export interface Geometry {
  scroller: HTMLElement;
  headHeight: number;
  rowHeight: number;
}

export class RowDrag {
  /** The rows that are dragged. */
  jobs = $state.raw<JobView[]>([]);
  /** The gap before this place is where they would land. */
  gap = $state<number | null>(null);
  /** The lane under the pointer. */
  lane = $state<QueueName | null>(null);
  at = $state({ x: 0, y: 0 });

  private geometry: Geometry | null = null;
  private end: (() => void) | null = null;

  constructor(private readonly app: App) {}

  get active(): boolean {
    return this.jobs.length > 0;
  }

  /** A press on a row: if it moves, its job is dragged, and with it what is selected beside it. */
  press(event: PointerEvent, job: JobView, geometry: Geometry): void {
    if (event.button !== 0 || event.pointerType === 'touch' || job.status !== 'pending') return;
    if (event.target instanceof Element && event.target.closest('button')) return;
    const from = { x: event.clientX, y: event.clientY };
    this.geometry = geometry;
    const move = (moved: PointerEvent): void => {
      this.at = { x: moved.clientX, y: moved.clientY };
      if (!this.active && Math.hypot(this.at.x - from.x, this.at.y - from.y) < SLACK_PX) return;
      if (!this.active) this.begin(job);
      this.look();
    };
    const up = (): void => void this.drop();
    const key = (pressed: KeyboardEvent): void => {
      if (pressed.key !== 'Escape' || !this.active) return;
      pressed.preventDefault();
      pressed.stopPropagation();
      this.stop();
    };
    window.addEventListener('pointermove', move);
    window.addEventListener('pointerup', up);
    window.addEventListener('pointercancel', up);
    window.addEventListener('keydown', key, true);
    this.end = () => {
      window.removeEventListener('pointermove', move);
      window.removeEventListener('pointerup', up);
      window.removeEventListener('pointercancel', up);
      window.removeEventListener('keydown', key, true);
    };
  }

  private begin(job: JobView): void {
    const { jobs } = this.app;
    const waiting = jobs.selection.filter((each) => each.status === 'pending');
    this.jobs = jobs.isSelected(job.jobId) && !jobs.everything && waiting.length > 1 ? waiting : [job];
    document.documentElement.classList.add('dragging-rows');
    requestAnimationFrame(() => this.scroll());
  }

  /** Finds out what lies under the pointer. */
  private look(): void {
    const lane = document.elementFromPoint(this.at.x, this.at.y)?.closest<HTMLElement>('[data-lane]');
    this.lane = (lane?.dataset.lane as QueueName | undefined) ?? null;
    this.gap = this.lane === null && this.geometry ? this.gapIn(this.geometry) : null;
  }

  private gapIn({ scroller, headHeight, rowHeight }: Geometry): number | null {
    const box = scroller.getBoundingClientRect();
    const { x, y } = this.at;
    if (x < box.left || x > box.right || y < box.top || y > box.bottom) return null;
    const gap = Math.round((y - box.top - headHeight + scroller.scrollTop) / rowHeight);
    const within = Math.max(0, Math.min(this.app.jobs.total, gap));
    return this.placeAt(within) === null ? null : within;
  }

  private scroll(): void {
    if (!this.active || !this.geometry) return;
    const { scroller } = this.geometry;
    const box = scroller.getBoundingClientRect();
    const inside = this.at.x >= box.left && this.at.x <= box.right;
    if (inside && this.at.y < box.top + EDGE_PX) scroller.scrollTop -= SCROLL_PX;
    else if (inside && this.at.y > box.bottom - EDGE_PX) scroller.scrollTop += SCROLL_PX;
    this.look();
    requestAnimationFrame(() => this.scroll());
  }

  /** What a gap means: a place beside a job of the same lane that is not dragged itself. */
  private placeAt(gap: number): Place | null {
    const { jobs } = this.app;
    const lane = this.jobs[0]?.queue;
    const stays = (job: JobView | undefined): job is JobView =>
      job?.status === 'pending' && job.queue === lane && !this.jobs.some((each) => each.jobId === job.jobId);
    const [above, below] = [jobs.at(gap - 1), jobs.at(gap)];
    if (stays(below)) return { place: 'before', jobId: below.jobId };
    if (stays(above)) return { place: 'after', jobId: above.jobId };
    return null;
  }

  private async drop(): Promise<void> {
    const { jobs, lane, gap, app } = this;
    const place = gap === null ? null : this.placeAt(gap);
    this.stop();
    if (jobs.length === 0) return;
    if (lane !== null) await app.actions.on(jobs, { action: 'move-to', queue: lane });
    else if (place !== null && app.orderShown.by === 'line') await app.actions.place(jobs, place);
    else if (place !== null) app.actions.sayOrder();
  }

  private stop(): void {
    this.end?.();
    this.end = null;
    this.jobs = [];
    this.gap = null;
    this.lane = null;
    document.documentElement.classList.remove('dragging-rows');
  }
}

/** How many are dragged, in words. */
export function dragWords(jobs: JobView[]): string {
  const [first] = jobs;
  return jobs.length === 1 && first ? first.title : t.table.dragged(jobs.length);
}
