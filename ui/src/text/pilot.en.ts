/** Pilots: a few files first, then a person's word for the rest. */
import { count } from './format';

const plural = (n: number, one: string, many: string): string => `${count(n)} ${n === 1 ? one : many}`;
const jobs = (n: number): string => plural(n, 'job', 'jobs');

export const pilotEn = {
  title: 'Pilot',
  /** In the sheet before the start. */
  switch: (n: number) => `Pilot: run ${count(n)} first`,
  files: 'Files of the pilot',
  note: (price: string, rest: number) =>
    `About ${price}. You see cost and quality, then release the other ${count(rest)}.`,
  /** Where the rest goes at half price: the pilot is asked at once. */
  noteLive: (price: string, rest: number) =>
    `Live, about ${price}. You see cost and quality, then release the other ${count(rest)}.`,
  noteUnpriced: (rest: number) => `You see cost and quality, then release the other ${count(rest)}.`,
  offNote: 'A few files of every size run first; the others wait for your word.',
  wrong: (most: number) => `A whole number from 1 to ${count(most)}.`,
  start: (n: number) => `Start pilot of ${count(n)}`,
  started: (n: number, rest: number) => `Pilot of ${count(n)} added, ${count(rest)} wait for it`,
  /** In the sidebar and the answer line. */
  running: (ended: number, of: number) => `Pilot: ${count(ended)} of ${count(of)} ended`,
  needsWord: 'Pilot ended: your turn',
  question: (batch: string) => `Pilot of ${batch} ended.`,
  sentence: (rest: number) => `${jobs(rest)} ${rest === 1 ? 'waits' : 'wait'} for your word.`,
  see: 'See the pilot',
  /** The result. */
  of: (n: number, all: number) => `${count(n)} of ${plural(all, 'file', 'files')}`,
  leadRunning: 'The others wait until you have seen what it comes to.',
  leadEnded: 'Look at the results, then say what becomes of the others.',
  leadNothing: 'No job of the pilot was answered: change something before the others meet the same.',
  cost: 'cost so far',
  costEnded: 'cost',
  costEach: (price: string) => `${price} a file`,
  input: 'input tokens',
  inputAsExpected: 'as expected',
  inputOff: (percent: number) => `${percent > 0 ? '+' : '−'}${count(Math.abs(percent))} % against forecast`,
  output: 'output tokens an answer',
  quality: 'Results',
  done: (n: number) => `${count(n)} done`,
  review: (n: number) => `${count(n)} to review`,
  failed: (n: number) => `${count(n)} failed`,
  left: (n: number) => `${count(n)} running`,
  rest: (n: number) => `The other ${count(n)}`,
  measured: 'measured by the pilot',
  notMeasured: 'another template or model: the pilot measures nothing of it',
  release: (n: number) => `Release ${count(n)}`,
  releaseNow: (n: number) => `Release ${count(n)} now`,
  change: 'Change template or model…',
  cancel: (n: number) => `Cancel ${count(n)}…`,
  released: (n: number) => `${jobs(n)} released`,
  cancelled: (n: number) => `${jobs(n)} cancelled`,
  cancelTitle: (n: number) => `Cancel ${jobs(n)} that ${n === 1 ? 'waits' : 'wait'}?`,
  cancelNote: 'They have cost nothing. The results of the pilot stay; the others can be run again.',
  cancelNow: (n: number) => `Cancel ${jobs(n)}`,
  keep: 'Keep waiting',
  changeTitle: (n: number) => `Release ${count(n)} with changes`,
  changeNote: 'The pilot keeps its results.',
  failedToLoad: 'The pilot could not be read',
};
