/**
 * What a person does to jobs. What can be taken back is done at once and can be undone; what spends, loses or reaches
 * beyond the list says first how many jobs it is for.
 */
import type { App } from '../app/app.svelte';
import { NO_CHANGES } from '../backend/backend';
import type { Affected } from '../backend/types/Affected';
import type { BatchId } from '../backend/types/BatchId';
import type { BulkAction } from '../backend/types/BulkAction';
import type { ExportFormat } from '../backend/types/ExportFormat';
import type { JobView } from '../backend/types/JobView';
import type { Place } from '../backend/types/Place';
import type { RetryChanges } from '../backend/types/RetryChanges';
import type { Selection } from '../backend/types/Selection';
import { usualWay, wayOf } from '../queue/way';
import { fileSize } from '../text/format';
import { t } from '../text/text.svelte';
import { fits } from './fits';
import { wordDone } from './words';

/** An action that waits for a yes. */
export interface Asked {
  selection: Selection;
  action: BulkAction;
  affected: Affected;
  /** The one job that it is for, where it is for one. */
  only: JobView | null;
}

/** Jobs that are about to be written to a file. */
export interface Exporting {
  selection: Selection;
  jobs: number;
  /** A name for the file, without its ending. */
  name: string;
}

/** Jobs that wait for the password of their files. */
export interface Unlocking {
  selection: Selection;
  jobs: number;
}

/** Jobs that are about to be run again, with what is changed from the start. */
export interface Again {
  selection: Selection;
  jobs: number;
  changes: Partial<RetryChanges>;
}

const OPPOSITE: Partial<Record<Place['place'], Place>> = { up: { place: 'down' }, down: { place: 'up' } };

export class Actions {
  asked = $state.raw<Asked | null>(null);
  again = $state.raw<Again | null>(null);
  exporting = $state.raw<Exporting | null>(null);
  /** The jobs whose password is asked for. */
  unlocking = $state.raw<Unlocking | null>(null);
  /** The batch whose cap is being set. */
  capOf = $state<BatchId | null>(null);

  constructor(private readonly app: App) {}

  /** Acts on what is selected in the table. */
  onSelection(action: BulkAction): Promise<boolean> {
    const { jobs } = this.app;
    return jobs.selectionIsHeld ? this.on(jobs.selection, action) : this.ask(jobs.chosen, action);
  }

  /** Acts on jobs that are listed. */
  on(jobs: JobView[], action: BulkAction): Promise<boolean> {
    const able = jobs.filter((job) => fits(job, action));
    const selection: Selection = { select: 'jobs', jobIds: able.map((job) => job.jobId) };
    // Only what was sent can cost: other jobs that are called off can simply be run again.
    const costs = action.action === 'cancel' && able.some((job) => job.status !== 'pending');
    const only = able.length === 1 ? (able[0] ?? null) : null;
    if (able.length > 0 && (costs || action.action === 'purge')) return this.ask(selection, action, only);
    return this.app.toasts.attempt(async () => {
      const affected = able.length === 0 ? null : await this.app.backend.applyAction(selection, action);
      const undo = this.comesBack(able, action) ? this.undoOf(selection, action) : null;
      this.tell(affected, action, undo);
    });
  }

  /** Asks the engine how many jobs it is for, then the person. */
  ask(selection: Selection, action: BulkAction, only: JobView | null = null): Promise<boolean> {
    return this.app.toasts.attempt(async () => {
      const affected = await this.app.backend.planAction(selection, action);
      if (affected.jobs === 0) this.app.toasts.done(t.done.nothing);
      else this.asked = { selection, action, affected, only };
    });
  }

  /** Does what was asked. */
  async confirm(): Promise<void> {
    const asked = this.asked;
    this.asked = null;
    if (!asked) return;
    await this.app.toasts.attempt(async () => {
      const affected = await this.app.backend.applyAction(asked.selection, asked.action);
      if (asked.action.action === 'purge') this.app.forgetSelection();
      this.tell(affected, asked.action, null);
    });
  }

  /** Moves a job by keys or menu. */
  move(job: JobView, place: Place['place'] & keyof typeof t.actions.moved): Promise<boolean> {
    const back = OPPOSITE[place] ?? this.before([job]);
    return this.moveAll([job], { place } as Place, t.actions.moved[place], back);
  }

  /** Moves jobs beside another one of their lane. */
  place(jobs: JobView[], place: Place): Promise<boolean> {
    return this.moveAll(jobs, place, t.actions.placed(jobs.length), this.before(jobs));
  }

  /** Says that places are only moved in the order of the line, and how to get there. */
  sayOrder(): void {
    this.app.toasts.written(t.table.onlyInLine, '', [
      {
        label: t.table.showLine,
        act: () => {
          this.app.order = null;
          this.app.show('waiting');
        },
      },
    ]);
  }

  private moveAll(jobs: JobView[], place: Place, words: string, back: Place | null): Promise<boolean> {
    const { app } = this;
    const jobIds = jobs.map((job) => job.jobId);
    return app.toasts.attempt(async () => {
      const moved = await app.backend.moveJobs(jobIds, place);
      const undo = async (to: Place): Promise<void> => {
        await app.backend.moveJobs(jobIds, to);
        app.refreshAll();
      };
      if (moved > 0) app.toasts.done(words, back ? () => undo(back) : null);
      else app.toasts.done(t.actions.notMoved);
      app.refreshAll();
    });
  }

  /** The place that jobs have, told by a neighbour; `null` where they have none in common. */
  private before(jobs: JobView[]): Place | null {
    const list = this.app.jobs;
    const places = jobs.map((job) => list.rows.indexOf(job)).sort((one, other) => one - other);
    const [first = -1, last = -1] = [places[0], places.at(-1)];
    if (first === -1 || last - first !== jobs.length - 1) return null;
    const [above, below] = [list.rows[first - 1], list.rows[last + 1]];
    const fits = (job: JobView | undefined): job is JobView =>
      job?.status === 'pending' && job.queue === jobs[0]?.queue;
    if (fits(below)) return { place: 'before', jobId: below.jobId };
    return fits(above) ? { place: 'after', jobId: above.jobId } : null;
  }

  /** Runs ended jobs again as they were. */
  runAgain(selection: Selection): Promise<boolean> {
    return this.retry(selection, NO_CHANGES);
  }

  retry(selection: Selection, changes: RetryChanges): Promise<boolean> {
    return this.app.toasts.attempt(async () => {
      const none = selection.select === 'jobs' && selection.jobIds.length === 0;
      const affected = none ? null : await this.app.backend.retry(selection, changes);
      this.app.deadLetters.selectEverything(false);
      this.app.toasts.done(affected?.jobs ? t.done.runAgain(affected.jobs) : t.done.nothing);
      this.app.refreshAll();
    });
  }

  /** Puts jobs back whose files a password opens, and answers how many; rejects where it opens none. */
  async unlock({ selection }: Unlocking, password: string): Promise<number> {
    const { app } = this;
    const { jobs, unchanged } = await app.backend.unlockJobs(selection, password);
    if (jobs === 0) return 0;
    this.unlocking = null;
    app.deadLetters.selectEverything(false);
    app.toasts.written(t.passwords.back(jobs), unchanged > 0 ? t.passwords.left(unchanged) : '', []);
    app.refreshAll();
    return jobs;
  }

  /** Runs jobs again that are done already: the sheet says first what it costs. */
  askToRunDone(selection: Selection, jobs: number): void {
    this.again = { selection, jobs, changes: { completed: true } };
  }

  /** Writes jobs to a file; answers whether it was written, which it is not where the person named none. */
  async export(
    { selection, name }: Exporting,
    format: ExportFormat,
    byteOrderMark: boolean,
  ): Promise<boolean> {
    let written = false;
    const { app } = this;
    await app.toasts.attempt(async () => {
      const exported = await app.backend.exportJobs({ selection, format, byteOrderMark }, name);
      if (exported === null) return;
      written = true;
      const without = exported.jobs - exported.results;
      const hints = [
        without > 0 ? t.exports.withoutResult(without) : '',
        exported.unreadable > 0 ? t.exports.unreadable(exported.unreadable) : '',
      ];
      app.toasts.written(
        t.exports.done(exported.jobs, fileSize(exported.bytes)),
        hints.filter((hint) => hint !== '').join(' '),
        [app.opening(exported.path), app.revealing(exported.path)],
      );
    });
    return written;
  }

  /** Tries copies of results again that could not be made. */
  retryCopies(selection: Selection): Promise<boolean> {
    return this.app.toasts.attempt(async () => {
      this.app.toasts.done(t.results.copiesRetried(await this.app.backend.retryCopies(selection)));
      this.app.refreshAll();
    });
  }

  /** Tries uploads again that were given up. */
  retryUploads(): Promise<boolean> {
    return this.app.toasts.attempt(async () => {
      this.app.toasts.done(t.storage.retried(await this.app.backend.retryUploads()));
      this.app.refreshAll();
    });
  }

  pauseBatch(batchId: BatchId, paused: boolean): Promise<boolean> {
    return this.app.toasts.attempt(async () => {
      await this.app.backend.pauseBatch(batchId, paused);
      this.app.refreshAll();
    });
  }

  setBatchCap(batchId: BatchId, capMicros: number | null): Promise<boolean> {
    return this.app.toasts.attempt(async () => {
      await this.app.backend.setBatchCap(batchId, capMicros);
      this.app.refreshAll();
    });
  }

  private tell(affected: Affected | null, action: BulkAction, undo: (() => Promise<void>) | null): void {
    if (affected && affected.jobs > 0) this.app.toasts.done(wordDone(action, affected.jobs), undo);
    else this.app.toasts.done(t.done.nothing);
    this.app.refreshAll();
  }

  /** Whether undoing restores all of it: moved back to Bulk, jobs go as that lane says, half price or not. */
  private comesBack(jobs: JobView[], action: BulkAction): boolean {
    const usual = usualWay(this.app.overview.lanes, 'bulk');
    return (
      action.action !== 'move-to' ||
      jobs.every((job) => job.queue === 'high' || job.provider === 'offline' || wayOf(job) === usual)
    );
  }

  private undoOf(selection: Selection, action: BulkAction): (() => Promise<void>) | null {
    const { backend } = this.app;
    const apply = (opposite: BulkAction) => async (): Promise<void> => {
      await backend.applyAction(selection, opposite);
      this.app.refreshAll();
    };
    switch (action.action) {
      case 'pause':
        return apply({ action: 'resume' });
      case 'resume':
        return apply({ action: 'pause' });
      case 'mark-reviewed':
        return apply({ action: 'unmark-reviewed' });
      case 'unmark-reviewed':
        return apply({ action: 'mark-reviewed' });
      case 'move-to':
        return apply({ action: 'move-to', queue: action.queue === 'high' ? 'bulk' : 'high' });
      case 'cancel':
        return async () => {
          await backend.retry(selection, NO_CHANGES);
          this.app.refreshAll();
        };
      default:
        return null;
    }
  }
}
