/** The reader: a summary beside its PDF. */
import type { PageRange } from '../reader/marks';
import { count } from './format';

const quotes = (n: number): string => `${count(n)} ${n === 1 ? 'quote' : 'quotes'}`;
const range = ({ from, to }: PageRange): string =>
  from === to ? count(from) : `${count(from)} to ${count(to)}`;

export const readerEn = {
  label: 'Summary',
  pdf: 'PDF',
  side: 'What is shown',
  summaryBy: (model: string, template: string) => `Summary by ${model}, template ${template}.`,
  position: (n: number, of: number) => `${count(n)} of ${count(of)}`,
  toReview: (n: number, of: number) => `${count(n)} of ${count(of)} to review`,
  previous: 'Previous job',
  next: 'Next job',
  export: 'Export',
  quotesFound: (n: number) =>
    n === 1 ? 'The quote is found word for word' : `All ${quotes(n)} found word for word`,
  quotesDiffer: (n: number, of: number) => `${count(n)} of ${quotes(of)} ${n === 1 ? 'differs' : 'differ'}`,
  quotesUnchecked: 'Quotes not checked',
  quotesNoText: 'Quotes not checked: the PDF has no text',
  pageMark: (page: number, last: number) =>
    page === last ? `p. ${count(page)}` : `pp. ${count(page)}–${count(last)}`,
  openPage: (page: number) => `Open page ${count(page)}`,
  differs: (words: string) => `Not found word for word. The PDF says “${words}”`,
  verdict: {
    found: 'Found word for word',
    'not-found': 'Not found in the PDF',
    unchecked: 'Not checked: the PDF’s text could not be read to its end',
  },
  copyWords: 'Copy the PDF’s words',
  wordsCopied: 'The PDF’s words are copied',
  citedOf: (n: number, of: number) => `${count(n)} of ${count(of)} pages cited`,
  mapLabel: (n: number, of: number, open: number | null) =>
    `${count(n)} of ${count(of)} pages cited${open === null ? '' : `, page ${count(open)} open`}`,
  everyPage: 'Every page is cited.',
  /** `ranges` is `null` where there are too many to be read. */
  never: (ranges: PageRange[] | null, n: number, references: number | null, last: number) => {
    const pages = ranges ? ranges.map(range).join(', ') : `${count(n)} of ${count(last)}`;
    const end =
      references === null
        ? ''
        : references === last
          ? ` Page ${count(last)} is references.`
          : ` Pages ${count(references)} to ${count(last)} are references.`;
    return `${n === 1 ? 'Page' : 'Pages'} never cited: ${pages}.${end}`;
  },
  pageOf: (page: number, of: number) => `Page ${count(page)} of ${count(of)}`,
  pageLabel: (page: number) => `Page ${count(page)}`,
  previousPage: 'Previous page',
  nextPage: 'Next page',
  zoomIn: 'Zoom in',
  zoomOut: 'Zoom out',
  fit: 'Fit to the window',
  zoomFit: (percent: number) => `${count(percent)}%, fit to the window`,
  openOutside: 'Open in PDF reader',
  opening: 'The PDF is being opened.',
  note: {
    highlighted: 'Cited passage highlighted',
    named: 'Named without a quote',
    'not-located': 'The words can’t be marked here',
  },
  why: {
    'no-document': { title: 'This job has no PDF', hint: 'Its summary is not affected.' },
    'file-missing': {
      title: 'The PDF is not where it was',
      hint: 'Put it back there to read it beside its summary. The summary is not affected.',
    },
    'file-changed': {
      title: 'The PDF was changed after it was added',
      hint: 'The summary is about another text, so they are not shown side by side. Add the file again to have it summarized as it is now.',
    },
    locked: {
      title: 'The PDF is locked with a password',
      hint: 'Its password is not known any more. Open it in your PDF reader; the summary is not affected.',
    },
    broken: {
      title: 'The PDF’s structure is too broken to be shown here',
      hint: 'Your PDF reader may still open it. The summary is not affected.',
    },
    failed: {
      title: 'The PDF can’t be shown here',
      hint: 'Open it in your PDF reader. The summary is not affected.',
    },
  },
};
