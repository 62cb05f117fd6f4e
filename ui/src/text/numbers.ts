/** Whole numbers and times of day as they are typed. */

/** A whole number, with or without thousands separators; `null` where it is none. */
export function readWhole(text: string): number | null {
  const trimmed = text.trim();
  if (!/^\d[\d,]*$/.test(trimmed)) return null;
  const value = Number(trimmed.replaceAll(',', ''));
  return Number.isSafeInteger(value) ? value : null;
}

/** Seconds with up to three decimals, as milliseconds; `null` where it is no such number. */
export function readSeconds(text: string): number | null {
  return /^\d{1,6}(\.\d{1,3})?$/.test(text.trim()) ? Math.round(Number(text.trim()) * 1000) : null;
}

/** The minute of the day of "22:00" or "7:30"; `null` where it is no time. */
export function readTime(text: string): number | null {
  const match = /^(\d{1,2}):(\d{2})$/.exec(text.trim());
  const [hours, minutes] = [Number(match?.[1]), Number(match?.[2])];
  return match && hours < 24 && minutes < 60 ? hours * 60 + minutes : null;
}

/** A minute of the day as "07:30". */
export function timeText(minute: number): string {
  return `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
}
