/** What is known of the played PDFs: their facts, and a picture of their first page. */
import type { DocumentFacts } from '../types/DocumentFacts';
import type { TextLayer } from '../types/TextLayer';
import { scatter } from './fixtures';

const LETTERS_A_PAGE = 2_600;

/** A PDF with nothing odd about it. */
export function plainFacts(pages: number | null, change: Partial<DocumentFacts> = {}): DocumentFacts {
  return {
    title: null,
    language: 'en',
    text: pages === null ? null : textOn(pages, pages),
    cipher: null,
    attachments: 0,
    fieldsUnseen: 0,
    linearized: false,
    bytesBefore: 0,
    repaired: false,
    pagesUncertain: false,
    annotationsLost: false,
    ...change,
  };
}

export function textOn(withText: number, pages: number, change: Partial<TextLayer> = {}): TextLayer {
  return {
    pagesRead: pages,
    pagesWithText: withText,
    letters: withText * LETTERS_A_PAGE,
    ideographs: 0,
    unknownPercent: 0,
    ...change,
  };
}

/** A page as a browser would draw it: a heading and lines of different lengths. */
export function pageDrawing(seed: number): string {
  const lines = Array.from({ length: 22 }, (_, n) => {
    const width = n % 6 === 5 ? 90 + scatter(seed + n, 60) : 196 + scatter(seed + n, 16);
    return `<rect x="34" y="${92 + n * 12}" width="${width}" height="4" rx="2" fill="#b9b4a8"/>`;
  });
  const svg =
    '<svg xmlns="http://www.w3.org/2000/svg" width="280" height="380" viewBox="0 0 280 380">' +
    '<rect width="280" height="380" fill="#ffffff"/>' +
    `<rect x="34" y="38" width="${120 + scatter(seed, 70)}" height="10" rx="3" fill="#5d574d"/>` +
    `<rect x="34" y="58" width="${70 + scatter(seed + 1, 60)}" height="5" rx="2" fill="#8d877b"/>` +
    `${lines.join('')}</svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}
