/** Finds words in a text that comes in pieces: a page of a PDF, or the nodes of a summary. */

/** A stretch of one piece of text. */
export interface Stretch {
  piece: number;
  from: number;
  to: number;
}

/** Shorter words could stand anywhere. */
const FEWEST_LETTERS = 6;
const GAP = /\[\s*(?:…|\.\.\.)\s*\]|…|\.\.\./;
/** Spaces and signs between two letters that are marked along with them. */
const WIDEST_SPACE = 8;

/** Letters and digits alone, in one form: spaces, hyphens, ligatures and quotation marks don't count. */
export function fold(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
}

export class FoldedText {
  private readonly letters: Stretch[] = [];
  private readonly text: string;

  constructor(pieces: string[]) {
    let text = '';
    pieces.forEach((whole, piece) => {
      let from = 0;
      for (const character of whole) {
        const to = from + character.length;
        const folded = fold(character);
        text += folded;
        for (let unit = 0; unit < folded.length; unit += 1) this.letters.push({ piece, from, to });
        from = to;
      }
    });
    this.text = text;
  }

  /** Where the words stand first; `null` where they don't. Words around an ellipsis stand in their order. */
  find(words: string): Stretch[] | null {
    const parts = words
      .split(GAP)
      .map(fold)
      .filter((part) => part !== '');
    if (parts.join('').length < FEWEST_LETTERS) return null;
    const found: Stretch[] = [];
    let after = 0;
    for (const part of parts) {
      const at = this.text.indexOf(part, after);
      if (at === -1) return null;
      after = at + part.length;
      this.letters.slice(at, after).forEach((letter, index) => {
        const last = found.at(-1);
        const goesOn = index > 0 && last?.piece === letter.piece && letter.from - last.to < WIDEST_SPACE;
        if (goesOn && last) last.to = letter.to;
        else found.push({ ...letter });
      });
    }
    return found;
  }
}
