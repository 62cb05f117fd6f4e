/** How many files run first, as it is typed. */
import { readWhole } from '../text/numbers';

const USUAL = 5;

/** What is proposed for so many files; a pilot of all of them would be none. */
export function usualPilot(jobs: number): number {
  return Math.max(1, Math.min(USUAL, jobs - 1));
}

/** A pilot that leaves some files for later; `null` where it does not. */
export function readPilot(text: string, jobs: number): number | null {
  const files = readWhole(text);
  return files !== null && files >= 1 && files < jobs ? files : null;
}
