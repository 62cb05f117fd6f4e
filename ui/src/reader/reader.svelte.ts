/** What the reader shows beside a summary: its PDF, what the summary names of it, and where one has got to. */
import { toProblem, type Backend } from '../backend/backend';
import type { JobId } from '../backend/types/JobId';
import type { Problem } from '../backend/types/Problem';
import type { Reading } from '../backend/types/Reading';
import type { Unchecked } from '../backend/types/Unchecked';
import type { Citation } from './citations';
import type { PdfView } from './pdf';

/** Words of a page that are to be highlighted. */
export interface Passage {
  page: number;
  words: string;
}

/** What is said of a page that a chip opened. */
export type PassageNote = 'highlighted' | 'named' | 'not-located';

const ZOOMS = [0.5, 0.67, 0.8, 1, 1.25, 1.5, 2, 3];

export class ReaderStore {
  reading = $state.raw<Reading | null>(null);
  /** Why that could not be found out. */
  unread = $state.raw<Problem | null>(null);
  state = $state<'none' | 'opening' | 'shown' | 'trouble'>('none');
  trouble = $state.raw<{ why: Unchecked | 'broken' | null; problem: Problem | null } | null>(null);
  view = $state.raw<PdfView | null>(null);
  page = $state(1);
  /** As the person chose; `null` fits the page to the window. */
  zoom = $state<number | null>(null);
  /** As it is drawn. */
  scale = $state(1);
  passage = $state.raw<Passage | null>(null);
  note = $state<PassageNote | null>(null);
  citations = $state.raw<Citation[]>([]);
  /** The chip that was pressed last. */
  at = $state(-1);
  /** Which one is shown where there is room for one. */
  side = $state<'summary' | 'pdf'>('summary');

  private jobId: JobId | null = null;
  private turn = 0;
  private readTurn = 0;
  private closing: Promise<void> = Promise.resolve();

  constructor(private readonly backend: Backend) {}

  get pages(): number | null {
    return this.view?.pages ?? this.reading?.pages ?? null;
  }

  /** Opens a job's PDF; a job without one is read without. */
  async open(jobId: JobId, hasDocument: boolean): Promise<void> {
    this.close();
    if (!hasDocument) return;
    const turn = this.turn;
    this.jobId = jobId;
    this.state = 'opening';
    await this.closing;
    if (turn !== this.turn) return;
    try {
      const { bytes } = await this.backend.openDocument(jobId);
      const { PdfView } = await import('./pdf');
      if (turn !== this.turn) return;
      const view = await PdfView.open(this.backend, jobId, bytes, (reason) => {
        if (turn === this.turn && this.view !== null) this.fail(reason);
      });
      if (turn !== this.turn) return void view.close();
      this.view = view;
      this.page = Math.min(this.page, view.pages);
      this.state = 'shown';
    } catch (reason) {
      if (turn === this.turn) this.fail(reason);
    }
  }

  /** Reads what a result names of its PDF. */
  async read(jobId: JobId): Promise<void> {
    const turn = ++this.readTurn;
    this.reading = null;
    this.unread = null;
    try {
      const reading = await this.backend.reading(jobId);
      if (turn === this.readTurn) this.reading = reading;
    } catch (reason) {
      if (turn === this.readTurn) this.unread = toProblem(reason);
    }
  }

  /** The PDF can't be shown, or not any more. */
  fail(reason: unknown): void {
    this.state = 'trouble';
    this.trouble = reasonOf(reason);
    void this.view?.close();
    this.view = null;
  }

  close(): void {
    const { jobId, view } = this;
    this.turn += 1;
    this.readTurn += 1;
    this.jobId = null;
    this.view = null;
    this.reading = null;
    this.unread = null;
    this.trouble = null;
    this.state = 'none';
    this.page = 1;
    this.passage = null;
    this.note = null;
    this.at = -1;
    if (jobId === null) return;
    this.closing = this.closing
      .then(() => view?.close())
      .then(() => this.backend.closeDocument(jobId))
      // What was lent is removed with the program at the latest.
      .catch(() => undefined);
  }

  /** Turns to a page by itself. */
  turnTo(page: number): void {
    this.page = Math.max(1, Math.min(page, this.pages ?? page));
    this.passage = null;
    this.note = null;
  }

  /** Opens what a chip names. */
  cite(citation: Citation): void {
    this.at = this.citations.indexOf(citation);
    this.turnTo(citation.page);
    this.side = 'pdf';
    if (citation.words === null) this.note = 'named';
    else this.passage = { page: citation.page, words: citation.words };
  }

  /** Goes to the next or previous chip. */
  walk(by: 1 | -1): void {
    const from = this.at === -1 && by === -1 ? this.citations.length : this.at;
    const citation = this.citations[from + by];
    if (!citation) return;
    const side = this.side;
    this.cite(citation);
    this.side = side;
    citation.button.scrollIntoView({ block: 'nearest' });
  }

  zoomBy(by: 1 | -1): void {
    const next =
      by === 1
        ? ZOOMS.find((zoom) => zoom > this.scale + 0.01)
        : ZOOMS.findLast((zoom) => zoom < this.scale - 0.01);
    if (next !== undefined) this.zoom = next;
  }
}

function reasonOf(reason: unknown): ReaderStore['trouble'] {
  const name = reason instanceof Error ? reason.name : '';
  if (name === 'PasswordException') return { why: 'locked', problem: null };
  if (name === 'InvalidPDFException') return { why: 'broken', problem: null };
  if (reason instanceof Error) return { why: 'failed', problem: null };
  const problem = toProblem(reason);
  const why = problem.code === 'not-found' ? 'file-missing' : null;
  return { why: problem.code === 'conflict' ? 'file-changed' : why, problem };
}
