/** The played reader: what a summary names of its PDF, and the PDF itself. */
import type { DocumentFile } from '../types/DocumentFile';
import type { JobId } from '../types/JobId';
import type { Problem } from '../types/Problem';
import type { Quote } from '../types/Quote';
import type { Reading } from '../types/Reading';
import type { PlayedEngine } from './engine';
import { summaryOf } from './results';

/** Pages as they are named in a text: `p. 3`, `p.3`. */
const NAMED = /p\.\s?(\d+)/g;
/** The page of the played PDFs that holds what is quoted. */
const QUOTED_PAGE = 2;

export function reading(engine: PlayedEngine, jobId: JobId): Reading {
  const job = engine.jobs.find((each) => each.jobId === jobId);
  const text = job ? summaryOf(job) : '';
  const quotes = [...text.matchAll(/^> (.+)$/gm)].map(([, words = '']): Quote => ({
    text: words,
    page: null,
    verdict: { verdict: 'found', page: QUOTED_PAGE },
  }));
  const named = [...text.matchAll(NAMED)].map(([, page]) => Number(page));
  return {
    pages: job?.pages ?? null,
    passages: [],
    quotes,
    citedPages: [...new Set(named)].sort((one, other) => one - other),
    referencesFrom: null,
    unchecked: null,
  };
}

export function openDocument(): DocumentFile {
  throw {
    code: 'not-found',
    message: 'The file is not there any more.',
    hint: 'Locate it.',
  } satisfies Problem;
}

export function documentBytes(): ArrayBuffer {
  return new ArrayBuffer(0);
}
