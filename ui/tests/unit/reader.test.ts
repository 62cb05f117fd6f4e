import { beforeEach, describe, expect, it } from 'vitest';
import type { Passage } from '../../src/backend/types/Passage';
import type { Quote } from '../../src/backend/types/Quote';
import { Citations } from '../../src/reader/citations';
import { FoldedText } from '../../src/reader/locate';
import { asRanges, marksIn } from '../../src/reader/marks';
import { speak } from '../../src/text/text.svelte';

const pagesOf = (text: string): string[] =>
  marksIn(text).map(({ ranges }) => ranges.map(({ from, to }) => `${from}-${to}`).join(' '));

describe('marks of pages', () => {
  it('are read in every form that summaries use', () => {
    expect(pagesOf('It rose (p. 3) and fell (pp. 3–5), see (p. 1, p. 9) or [p. 7].')).toEqual([
      '3-3',
      '3-5',
      '1-1 9-9',
      '7-7',
    ]);
    expect(pagesOf('増えた（p.3）。横ばい(8 ページ)、（11〜13ページ）')).toEqual(['3-3', '8-8', '11-13']);
  });

  it('are not seen in other brackets', () => {
    expect(pagesOf('In 1998 (3) of them (n = 12, p < 0.05) grew (pH 6) [2] (p. 5–3).')).toEqual([]);
  });

  it('are put together to ranges, two neighbours apart', () => {
    const ranges = asRanges([2, 3, 4, 7, 8, 11]).map(({ from, to }) => `${from}-${to}`);
    expect(ranges).toEqual(['2-4', '7-7', '8-8', '11-11']);
  });
});

describe('words of a page', () => {
  const page = new FoldedText(['The ﬁrst har-', 'vest was “late”', 'in wet years. The second', ' was not.']);

  it('are found over lines, hyphens, ligatures and forms of quotation marks', () => {
    expect(page.find('the first harvest was "late" in')).toEqual([
      { piece: 0, from: 0, to: 12 },
      { piece: 1, from: 0, to: 14 },
      { piece: 2, from: 0, to: 2 },
    ]);
  });

  it('are found around an ellipsis, in their order only', () => {
    expect(page.find('harvest was … second was')).not.toBeNull();
    expect(page.find('second was … harvest was')).toBeNull();
  });

  it('are not found where another word stands, or where they are too few to be certain', () => {
    expect(page.find('the first harvest was early')).toBeNull();
    expect(page.find('was')).toBeNull();
  });
});

describe('a summary', () => {
  beforeEach(() => speak('en'));

  const quote = (text: string, verdict: Quote['verdict']): Quote => ({ text, page: null, verdict });

  function decorated(html: string, quotes: Quote[]): { root: HTMLElement; pages: [number, string | null][] } {
    const root = document.createElement('div');
    root.innerHTML = html;
    const citations = new Citations(root, 20, () => undefined).decorate(quotes);
    return { root, pages: citations.map(({ page, words }) => [page, words]) };
  }

  it('gets a chip for each page it names, but not for one that the PDF does not have', () => {
    const { root, pages } = decorated('<p>It rose (p. 3, p. 9), then fell (p. 42).</p>', []);
    expect(pages).toEqual([
      [3, null],
      [9, null],
    ]);
    expect(root.textContent).toContain('(p. 42)');
  });

  it('leads the chip beside a quote to its words, and no chip to words that were not found', () => {
    const found = quote('the largest gap in the record', { verdict: 'found', page: 12 });
    const missing = quote('nobody measured in winter', { verdict: 'not-found' });
    const { root, pages } = decorated(
      '<p>It is “the largest gap in the record” (p. 12).</p><p>So “nobody measured in winter” (p. 4).</p>',
      [found, missing],
    );
    expect(pages).toEqual([
      [12, 'the largest gap in the record'],
      [4, null],
    ]);
    expect(root.textContent).toContain('Not found in the PDF');
  });

  it('shows the PDF’s words under a quote that stands alone and differs', () => {
    const { root, pages } = decorated(
      '<blockquote><p>“Half of all sites were silent.” (p. 9)</p></blockquote>',
      [
        quote('Half of all sites were silent.', {
          verdict: 'differs',
          page: 9,
          words: 'nearly half of the sites were silent',
        }),
      ],
    );
    expect(pages).toEqual([[9, 'nearly half of the sites were silent']]);
    expect(root.querySelector('.qt .qv')?.textContent).toContain(
      'The PDF says “nearly half of the sites were silent”',
    );
  });

  it('leads a chip to what the provider cited of its page, unless that could be one of several passages', () => {
    const root = document.createElement('div');
    root.innerHTML = '<p>It rose (p. 3), then fell (p. 9).</p>';
    const cited = (firstPage: number, text: string): Passage => ({ firstPage, lastPage: firstPage, text });
    const passages = [cited(3, 'Carbon rose by a third.'), cited(9, 'It fell.'), cited(9, 'It stayed.')];
    const citations = new Citations(root, 20, () => undefined).decorate([], passages);
    expect(citations.map(({ words }) => words)).toEqual(['Carbon rose by a third.', null]);
  });
});
