/** How well words fit a text: the start of a word fits best, then any part of it, then its letters in order. */

const START = 4;
const PART = 2.5;
const INITIALS = 2;
const LETTERS = 1;
/** Letters in order fit only where they lie this close together: else nearly everything would fit. */
const SPREAD = 2.5;

/** Lower case, full-width letters as plain ones, without accents. */
export function plain(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .toLowerCase();
}

/** A number above 0 where every word of the query fits the text, the higher the better; 0 where one does not. */
export function fit(query: string, text: string): number {
  const wanted = plain(query).split(/\s+/).filter(Boolean);
  const searched = plain(text);
  let sum = 0;
  for (const word of wanted) {
    const score = fitWord(word, searched);
    if (score === 0) return 0;
    sum += score;
  }
  // Among those that fit alike, the shorter text is more likely meant.
  return sum === 0 ? 0 : sum / wanted.length + 1 / (10 + searched.length);
}

function fitWord(word: string, text: string): number {
  const at = text.indexOf(word);
  if (at !== -1) return startsWord(text, word) ? START : PART;
  const initials = [...text.matchAll(/[\p{L}\p{N}]+/gu)].map((each) => each[0].charAt(0)).join('');
  if (word.length > 1 && initials.includes(word)) return INITIALS;
  return inOrder(word, text) ? LETTERS : 0;
}

function startsWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    if (at === 0 || !/[\p{L}\p{N}]/u.test(text.charAt(at - 1))) return true;
  }
  return false;
}

function inOrder(word: string, text: string): boolean {
  if (word.length < 3) return false;
  const first = word.charAt(0);
  for (let start = text.indexOf(first); start !== -1; start = text.indexOf(first, start + 1)) {
    let at = start;
    for (const letter of word.slice(1)) {
      at = text.indexOf(letter, at + 1);
      if (at === -1) return false;
    }
    if (at - start < word.length * SPREAD) return true;
  }
  return false;
}
