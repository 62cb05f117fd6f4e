/** Passwords of PDFs: asked for before the start, and for jobs that failed for want of one. */
import { count } from './format';

const jobs = (n: number): string => `${count(n)} ${n === 1 ? 'job' : 'jobs'}`;
const files = (n: number): string => `${count(n)} ${n === 1 ? 'file' : 'files'}`;

export const passwordsEn = {
  label: 'Password',
  unlock: 'Unlock',
  unlocking: 'Trying it…',
  show: 'Show the password',
  hide: 'Hide the password',
  kept: 'Used on this machine only, and forgotten when Gistmill closes.',
  opened: (n: number) => `The password opens ${files(n)}.`,
  openedSome: (n: number, left: number) =>
    `The password opens ${files(n)}; ${count(left)} ${left === 1 ? 'needs' : 'need'} another one.`,
  wrong: (n: number) =>
    n === 1
      ? 'The password does not open this file. Check capital letters and the keyboard’s language.'
      : `The password opens none of the ${files(n)}. Check capital letters and the keyboard’s language.`,
  enter: 'Enter password…',
  title: (n: number) => (n === 1 ? 'Unlock the file' : `Unlock ${files(n)}`),
  note: (n: number) =>
    n === 1
      ? 'When it opens the file, the job goes back to its queue.'
      : 'It is tried on all of them. The jobs whose files it opens go back to their queue.',
  unlockAndRun: (n: number) => (n === 1 ? 'Unlock and run' : `Unlock and run ${count(n)}`),
  back: (n: number) => `${jobs(n)} back in the queue`,
  left: (n: number) => `${files(n)} ${n === 1 ? 'needs' : 'need'} another password.`,
};
