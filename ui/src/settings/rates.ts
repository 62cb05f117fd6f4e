/** The four rates of a price as they are typed: dollars for a million tokens. */
import { moneyText, readMoney } from '../text/money-text';

export interface Rates<T = string> {
  input: T;
  output: T;
  cacheWrite: T;
  cacheRead: T;
}

/** Micro-dollars for a million tokens; nothing to pay is a rate, too. */
export function readRate(text: string): number | null {
  return /^\$?\s*0+(\.0+)?$/.test(text.trim()) ? 0 : readMoney(text);
}

export function ratesText(price: Rates<number>): Rates {
  return {
    input: moneyText(price.input),
    output: moneyText(price.output),
    cacheWrite: moneyText(price.cacheWrite),
    cacheRead: moneyText(price.cacheRead),
  };
}

export function emptyRates(): Rates {
  return ratesText({ input: 0, output: 0, cacheWrite: 0, cacheRead: 0 });
}

/** All four, or `null` where one of them is no amount. */
export function readRates(rates: Rates): Rates<number> | null {
  const input = readRate(rates.input);
  const output = readRate(rates.output);
  const cacheWrite = readRate(rates.cacheWrite);
  const cacheRead = readRate(rates.cacheRead);
  if (input === null || output === null || cacheWrite === null || cacheRead === null) return null;
  return { input, output, cacheWrite, cacheRead };
}
