/** Sentences one after the other: with a space where the script has them, without one after a full-width stop. */
export function joined(...sentences: (string | null | undefined | false)[]): string {
  return sentences
    .filter((sentence): sentence is string => Boolean(sentence))
    .reduce((text, next) => (text === '' || text.endsWith('。') ? text + next : `${text} ${next}`), '');
}
