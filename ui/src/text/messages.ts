import type { en } from './en';

/** Widens the English texts to "a text", keeping the parameters of those that have some. */
type Widened<T> = T extends string
  ? string
  : T extends (...parameters: infer P) => string
    ? (...parameters: P) => string
    : { [K in keyof T]: Widened<T[K]> };

/** What every language has to say. English is the pattern. */
export type Messages = Widened<typeof en>;
