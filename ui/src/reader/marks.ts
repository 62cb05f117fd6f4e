/** Marks of pages in a summary, as the engine reads them: `(p. 3)`, `(pp. 3–5)`, `(p. 3, 5)`, and the Japanese forms. */

/** Pages of a mark, from 1. */
export interface PageRange {
  from: number;
  to: number;
}

export interface PageMark {
  start: number;
  end: number;
  ranges: PageRange[];
}

const BRACKETS = /[(（[]([^()（）[\]\n]{1,80})[)）\]]/g;
const BETWEEN = /\s*(?:[,，、;；\u30fb]|\band\b|\bund\b|\bet\b|&)\s*/;
const ONE =
  /^(pp?\.?|pages?|seiten?|s\.)?\s*(\d{1,5})(?:\s*[-–—~〜～]\s*(?:pp?\.?\s*)?(\d{1,5}))?\s*(\u30da\u30fc\u30b8|\u9801)?$/i;

function rangesOf(inner: string): PageRange[] {
  const ranges: PageRange[] = [];
  let named = false;
  for (const part of inner.trim().split(BETWEEN)) {
    const match = ONE.exec(part.trim());
    if (!match) return [];
    const [, before, first, last, behind] = match;
    named ||= before !== undefined || behind !== undefined;
    const from = Number(first);
    const to = last === undefined ? from : Number(last);
    if (from < 1 || to < from) return [];
    ranges.push({ from, to });
  }
  return named ? ranges : [];
}

export function marksIn(text: string): PageMark[] {
  return [...text.matchAll(BRACKETS)].flatMap((match) => {
    const ranges = rangesOf(match[1] ?? '');
    return ranges.length === 0 ? [] : [{ start: match.index, end: match.index + match[0].length, ranges }];
  });
}

/** Pages as ranges: 2 to 8, 10, 11. Two neighbours stay two. */
export function asRanges(pages: number[]): PageRange[] {
  const ranges: PageRange[] = [];
  for (const page of pages) {
    const last = ranges.at(-1);
    if (last?.to === page - 1) last.to = page;
    else ranges.push({ from: page, to: page });
  }
  return ranges.flatMap((range) =>
    range.to === range.from + 1
      ? [
          { from: range.from, to: range.from },
          { from: range.to, to: range.to },
        ]
      : [range],
  );
}
