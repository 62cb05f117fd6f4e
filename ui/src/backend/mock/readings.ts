/** The played reader: what a summary names of its PDF, and the PDF itself. */
import { FoldedText } from '../../reader/locate';
import { marksIn } from '../../reader/marks';
import type { Cause } from '../types/Cause';
import type { DocumentFile } from '../types/DocumentFile';
import type { JobId } from '../types/JobId';
import type { JobView } from '../types/JobView';
import type { Problem } from '../types/Problem';
import type { Quote } from '../types/Quote';
import type { QuoteVerdict } from '../types/QuoteVerdict';
import type { Reading } from '../types/Reading';
import type { Unchecked } from '../types/Unchecked';
import type { PlayedEngine } from './engine';
import { DIFFERING, paperOf } from './papers';
import { writePdf } from './pdf';
import { summaryOf } from './results';

/** Quoted blocks, and words between quotation marks. */
const QUOTED = /^> (?<block>.+)$|“(?<words>[^”]{16,})”/gm;
/** How many of a played PDF's last pages are references, where they are. */
const REFERENCES = 4;

/** What is wrong with the played PDFs, as the address of the page asks for. */
export type PlayedTrouble = Extract<Unchecked, 'file-missing' | 'file-changed' | 'locked'> | 'broken' | null;

const REFUSED: Record<Exclude<PlayedTrouble, 'broken' | null>, Problem> = {
  'file-missing': {
    code: 'not-found',
    message: 'There is no such file any more.',
    hint: 'Put it back where it was. Its summary is not affected.',
  },
  'file-changed': {
    code: 'conflict',
    message: 'The file was changed after it was added.',
    hint: 'Add the file again to have it summarized as it is now.',
  },
  locked: {
    code: 'bad-input',
    message: 'The file is locked with a password.',
    hint: 'Open it in your PDF reader.',
  },
};

const FAILED_OF: Partial<Record<Cause, PlayedTrouble>> = {
  'pdf-encrypted': 'locked',
  'pdf-damaged': 'broken',
  'file-missing': 'file-missing',
};

export class PlayedDocuments {
  private readonly open = new Map<JobId, Uint8Array<ArrayBuffer>>();

  constructor(
    private readonly engine: PlayedEngine,
    private readonly trouble: PlayedTrouble,
  ) {}

  reading(jobId: JobId): Reading {
    const job = this.job(jobId);
    const text = summaryOf(job);
    const papers = paperOf(job).map(({ paragraphs }) => new FoldedText(paragraphs));
    const trouble = this.troubleOf(job);
    const unchecked = trouble === 'broken' ? 'failed' : trouble;
    const quotes = [...text.matchAll(QUOTED)].map(({ groups = {} }): Quote => {
      const block = groups['block'] ?? groups['words'] ?? '';
      const mark = marksIn(block)[0];
      const words = (mark ? block.slice(0, mark.start) : block).replace(/^[“"]|[”"]\s*$/g, '').trim();
      const verdict: QuoteVerdict = unchecked ? { verdict: 'unchecked' } : judge(words, papers);
      return { text: words, page: mark?.ranges[0]?.from ?? null, verdict };
    });
    const pages = job.pages ?? null;
    const cited = marksIn(text).flatMap(({ ranges }) => ranges.map(({ from }) => from));
    const found = quotes.flatMap(({ verdict }) => (verdict.verdict === 'found' ? [verdict.page] : []));
    return {
      pages,
      passages: [],
      quotes,
      citedPages: [...new Set([...cited, ...found])]
        .filter((page) => page <= (pages ?? 0))
        .sort((one, other) => one - other),
      referencesFrom: pages !== null && pages > 20 ? pages - REFERENCES + 1 : null,
      unchecked,
    };
  }

  openDocument(jobId: JobId): DocumentFile {
    const job = this.job(jobId);
    const trouble = this.troubleOf(job);
    if (trouble !== null && trouble !== 'broken') throw REFUSED[trouble];
    const written = writePdf(paperOf(job));
    const bytes = trouble === 'broken' ? written.map((byte) => byte ^ 0x55) : written;
    this.open.set(jobId, bytes);
    return { bytes: bytes.length, pages: job.pages, path: job.sourcePath ?? '' };
  }

  documentBytes(jobId: JobId, offset: number, length: number): ArrayBuffer {
    const bytes = this.open.get(jobId);
    if (!bytes) {
      throw {
        code: 'conflict',
        message: 'This PDF is not open for reading.',
        hint: 'Open the job again.',
      } satisfies Problem;
    }
    return bytes.slice(offset, offset + length).buffer;
  }

  closeDocument(jobId: JobId): void {
    this.open.delete(jobId);
  }

  /** What is wrong with a job's PDF: what the address says, or what the job failed of. */
  private troubleOf(job: JobView): PlayedTrouble {
    return this.trouble ?? (job.cause ? (FAILED_OF[job.cause] ?? null) : null);
  }

  private job(jobId: JobId): JobView {
    const job = this.engine.jobs.find((each) => each.jobId === jobId);
    if (!job) throw { code: 'not-found', message: 'There is no such job.', hint: '' } satisfies Problem;
    return job;
  }
}

function judge(words: string, papers: FoldedText[]): QuoteVerdict {
  const differs = DIFFERING[words];
  if (differs) return { verdict: 'differs', ...differs };
  const page = papers.findIndex((paper) => paper.find(words) !== null) + 1;
  return page === 0 ? { verdict: 'not-found' } : { verdict: 'found', page };
}
