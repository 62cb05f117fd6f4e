/** What jobs will come to: tokens, price and time by the way that they go, and what fits under the caps. */
import { count } from './format';

const seconds = (n: number): string => (n < 60 ? `${count(n)} s` : `${count(Math.ceil(n / 60))} min`);

export const forecastEn = {
  title: 'When, and for how much',
  cards: { now: 'Now', morning: 'By morning, half price' },
  batchNote: 'through the batch API',
  /** What the forecast rests on. */
  counted: 'Input counted, output is a range',
  partlyCounted: 'Input partly counted, output is a range',
  estimated: 'Input estimated, output is a range',
  expected: 'expected',
  atWorst: 'at worst',
  priceUnknown: 'no price known',
  free: 'free, on this computer',
  working: 'Working it out…',
  done: (time: string) => `done ${time}`,
  often: (time: string) => `often ${time}`,
  atLatest: (time: string) => `At the latest ${time}`,
  /** While something only a person can change holds the lane. */
  takes: (time: string) => `takes ${time} once it runs`,
  limitedBy: {
    answers: 'As long as an answer takes',
    concurrency: 'Paced by how many calls run at once',
    tokens: 'Paced by your tokens a minute',
    requests: 'Paced by your requests a minute',
    hours: 'Paced by the hours of Bulk',
    provider: 'Your minute limits stay free',
  },
  left: {
    batch: (money: string) => `the cap of ${money}`,
    day: (money: string) => `what is left today, ${money}`,
    month: (money: string) => `what is left this month, ${money}`,
  },
  and: (one: string, other: string) => `${one} and ${other}`,
  over: (limit: string, fit: number, jobs: number) =>
    `More than ${limit}: about ${count(fit)} of ${count(jobs)} would run`,
  atWorstOver: (limit: string, fit: number, jobs: number) =>
    `Fits as expected; at worst ${count(fit)} of ${count(jobs)} start within ${limit}`,
  fits: (limits: string) => `Fits ${limits}`,
  noCap: 'No spend cap is set',
  output: (expected: number, low: number, high: number) =>
    `An answer has about ${count(expected)} output tokens, most ${count(low)} to ${count(high)}`,
  guessed: 'guessed by the template',
  byAnswers: (n: number) => `by ${n === 1 ? 'one earlier answer' : `${count(n)} earlier answers`}`,
  /** The foot of the sheet. */
  range: (low: string, high: string) => `${low} to ${high}`,
  byMorning: 'by morning',
  tokens: {
    counted: 'input tokens, counted by the provider at no charge',
    counting: 'input tokens, being counted by the provider at no charge',
    estimated: 'input tokens, estimated',
    within: (percent: number) => `input tokens, estimated: usually within ${count(percent)} %`,
    partly: (n: number, of: number) =>
      `input tokens, ${count(n)} of ${count(of)} files counted, the others estimated`,
    offline: 'input tokens, estimated: counted when online',
    noKey: 'input tokens, estimated: counted when a key is set',
  },
  countingLabel: 'Counting tokens',
  progress: (n: number, of: number) => `${count(n)} of ${count(of)} counted`,
  timeLeft: (left: number) => `about ${seconds(left)} left`,
};
