/** Adding files: the zones of a drop, and the sheet between drop and start. */
import { count } from './format';

const plural = (n: number, one: string, many: string): string => `${count(n)} ${n === 1 ? one : many}`;
const jobs = (n: number): string => plural(n, 'job', 'jobs');
const files = (n: number): string => plural(n, 'file', 'files');

export const dropEn = {
  label: 'Drop files',
  holding: (n: number) => plural(n, 'file or folder', 'files or folders'),
  inLane: 'In the lane',
  order: 'Order',
  highOrder: 'ahead of Bulk',
  bulkOrder: 'after High, oldest first',
  half: 'At half price',
  halfTime: 'usually within an hour, at most 24 h',
  dropHigh: 'Drop here for High',
  dropBulk: 'Drop here for Bulk',
  release: 'Release to see pages and price',
  cancel: 'cancel',
  nothingSent: 'Nothing is spent until you press Start.',
  sheetFirst: 'Start or close this first, then drop again',
  chip: (n: number) => plural(n, 'item', 'items'),
};

export const addEn = {
  label: 'Before you start',
  nothingSent: 'Nothing is sent yet.',
  /** Counting sends the files, too. */
  nothingSpent: 'Nothing is spent yet. The files are sent only to be counted.',
  scanning: 'Looking into the files',
  scanned: (inspected: number, found: number) => `${count(inspected)} of ${files(found)} inspected`,
  /** While folders are still being looked through. */
  walking: (found: number) => `Looking through folders… ${count(found)} found`,
  inspected: (n: number) => `${count(n)} inspected`,
  problems: (n: number) => `${count(n)} can’t be used`,
  scanNote: 'Each PDF is opened on this computer only: pages, locks and duplicates.',
  batchName: 'Batch name',
  filesReady: (n: number) => (n === 1 ? 'file ready' : 'files ready'),
  pages: (n: number) => (n === 1 ? 'page' : 'pages'),
  callsInParts: (calls: number, n: number) => `${calls === 1 ? 'call' : 'calls'}, ${files(n)} asked in parts`,
  priceOf: (expected: string, atWorst: string) => `${expected} expected, ${atWorst} at worst`,
  priceUnknownNote: (model: string) => `Jobs for ${model} wait until it has a price.`,
  cap: 'Spend cap for this batch',
  capAt: (cap: string) => `cap ${cap}`,
  reused: (n: number) => `${count(n)} reused from earlier results, $0.00`,
  fresh: 'Ask again anyway',
  freshNote: 'Every file is asked and paid again.',
  toFail: (n: number) => `${files(n)} would fail at once`,
  paused: 'Add paused',
  addedPaused: (n: number) => `${jobs(n)} added, paused`,
  priceUnknown: 'No price is known for this model',
  free: 'Free, on this computer',
  provider: 'Summarized by',
  claude: 'Claude',
  claudeNote: (model: string) => model,
  offline: 'Offline summary',
  offlineNote: 'Picks sentences, free, no key',
  noKey: 'No key yet: Claude jobs wait until one is set.',
  addKey: 'Add a key',
  template: 'Template',
  textOnly: 'Only the text is sent, without pictures; files without text fail.',
  templateOffline: 'An offline summary uses no template.',
  start: (n: number) => `Start ${jobs(n)}`,
  startLater: (n: number) => `Add ${count(n)}, run after a key is set`,
  emptyTitle: 'No PDFs in this drop',
  emptyNote: 'What was found is listed below.',
  emptyNothing: 'Nothing was found there.',
  started: (n: number) => `${jobs(n)} added`,
};
