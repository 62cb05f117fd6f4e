/** Dollars as they are typed. */
const MICROS = 1_000_000;
const TYPED = /^\$?\s*(\d{1,3}(?:,\d{3})+|\d+)?(\.\d{1,6})?$/;

/** What a field shows for an amount: at least two decimals, nothing for none. */
export function moneyText(micros: number | null): string {
  if (micros === null) return '';
  const dollars = micros / MICROS;
  return Number.isInteger(dollars * 100) ? dollars.toFixed(2) : String(dollars);
}

/** Micro-dollars of what was typed; `null` where it is no amount above zero. */
export function readMoney(text: string): number | null {
  const trimmed = text.trim();
  const match = TYPED.exec(trimmed);
  if (!match || (match[1] === undefined && match[2] === undefined)) return null;
  const micros = Math.round(Number(trimmed.replace(/[$,\s]/g, '')) * MICROS);
  return micros > 0 && Number.isSafeInteger(micros) ? micros : null;
}
