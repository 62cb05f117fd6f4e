/** Numbers, money and time as the window writes them (design, "Numbers"). */
import { formatLocale, type Spoken } from './locale';
import { shown } from './shown.svelte';

const MICROS = 1_000_000;

function makeFormats(locale: string) {
  return {
    count: new Intl.NumberFormat(locale, { maximumFractionDigits: 0 }),
    rate: new Intl.NumberFormat(locale, { maximumFractionDigits: 1 }),
    money2: new Intl.NumberFormat(locale, {
      style: 'currency',
      currency: 'USD',
      currencyDisplay: 'narrowSymbol',
    }),
    money4: new Intl.NumberFormat(locale, {
      style: 'currency',
      currency: 'USD',
      currencyDisplay: 'narrowSymbol',
      minimumFractionDigits: 4,
      maximumFractionDigits: 4,
    }),
    clock: new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
    clockSeconds: new Intl.DateTimeFormat(locale, {
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      hourCycle: 'h23',
    }),
    day: new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric' }),
    date: new Intl.DateTimeFormat(locale, { year: 'numeric', month: 'short', day: 'numeric' }),
    dayClock: new Intl.DateTimeFormat(locale, {
      month: 'short',
      day: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    }),
    full: new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'long' }),
    languages: new Intl.DisplayNames(locale, { type: 'language', fallback: 'code' }),
    size: new Intl.NumberFormat(locale, { maximumFractionDigits: 1 }),
  };
}

let formats = makeFormats('en-US');

/** The formats of the language shown; what shows a figure without a word follows it, too. */
function present(): typeof formats {
  void shown.language;
  return formats;
}

/** Formats from now on for a language. Called before the language shown changes. */
export function useLocaleOf(language: Spoken): void {
  formats = makeFormats(formatLocale(language));
}

/** 10214 → "10,214". */
export function count(value: number): string {
  return present().count.format(value);
}

/** 8.14 → "8.1". */
export function rate(value: number): string {
  return present().rate.format(value);
}

/** Tokens where space is short: exact under 10,000, then 48.9k, 171k, 23.8M. */
export function shortTokens(value: number): string {
  if (value < 10_000) return count(value);
  const [scaled, unit] = value < 999_500 ? [value / 1_000, 'k'] : [value / 1_000_000, 'M'];
  return scaled.toFixed(scaled < 99.95 ? 1 : 0) + unit;
}

/** Micro-dollars in a list: "$0.08". What is more than nothing never reads as nothing. */
export function money(micros: number): string {
  if (micros > 0 && micros < 5_000) return `<${present().money2.format(0.01)}`;
  return present().money2.format(micros / MICROS);
}

/** Micro-dollars to four places: "$0.0784". */
export function exactMoney(micros: number): string {
  return present().money4.format(micros / MICROS);
}

/** Milliseconds as "0:42", "31:10", then "3 h 33 min" (Japanese: "3 時間 33 分", given by the catalogue's units). */
export function duration(milliseconds: number, hours: (h: number, min: number) => string): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds >= 3600) return hours(Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

/** Milliseconds left, counted up so that a countdown ends at 0:00 when it is over. */
export function countdown(milliseconds: number, hours: (h: number, min: number) => string): string {
  return duration(Math.ceil(Math.max(0, milliseconds) / 1000) * 1000, hours);
}

/** "18:41". */
export function clock(moment: number): string {
  return present().clock.format(moment);
}

/** "18:41:07". */
export function clockSeconds(moment: number): string {
  return present().clockSeconds.format(moment);
}

/** "18:41" today, else the day. */
export function clockOrDay(moment: number, now: number): string {
  return new Date(moment).toDateString() === new Date(now).toDateString()
    ? clock(moment)
    : present().day.format(moment);
}

/** "18:41" today, else the day with it: "Feb 11, 18:41". */
export function clockWithDay(moment: number, now: number): string {
  return new Date(moment).toDateString() === new Date(now).toDateString()
    ? clock(moment)
    : present().dayClock.format(moment);
}

/** "Feb 11". */
export function day(moment: number): string {
  return present().day.format(moment);
}

/** A day of the calendar, "2027-01-22" → "Jan 22, 2027"; what is no day stays as it is. */
export function calendarDay(text: string): string {
  const moment = new Date(`${text}T12:00:00`).getTime();
  return Number.isNaN(moment) ? text : present().date.format(moment);
}

/** Date, time and zone in full, for a tip. */
export function fullTime(moment: number): string {
  return present().full.format(moment);
}

/** A language by its code: "ja" → "Japanese"; the code itself where it is none that is known. */
export function languageName(code: string): string {
  try {
    return present().languages.of(code) ?? code;
  } catch {
    return code;
  }
}

/** Bytes as "3.2 MB". */
export function fileSize(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB'];
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? count(value) : present().size.format(value)} ${units[unit] ?? ''}`;
}
