/**
 * Why a job does not run: for a cell (about 22 letters in each of its two lines), and as a sentence that serves a job
 * as well as a lane.
 */
export const waitingEn = {
  startsAt: (time: string) => `Starts at ${time}`,
  tokens: 'Tokens used up',
  requests: 'Requests used up',
  larger: 'Larger than the limit',
  largerNote: 'Runs when all is idle',
  cap: { batch: 'Batch cap reached', day: 'Day cap reached', month: 'Month cap reached' },
  capNote: (needed: string) => `Fix: raise to ${needed}`,
  price: 'No price known',
  priceNote: 'Fix: set a price',
  behindHigh: 'High goes first',
  behindHighNote: 'Starts after High',
  batchPaused: 'Batch paused',
  batchPausedNote: 'Resume it to start',
  jobPaused: 'Paused by you',
  jobPausedNote: 'Resume it to start',
  pilot: 'Waits for the pilot',
  pilotLeft: (left: number) => `${left} pilot ${left === 1 ? 'job' : 'jobs'} left`,
  pilotEnded: 'It ended: your turn',
  hours: 'Outside Bulk hours',
  filling: 'Collecting more jobs',
  uploading: 'Result is uploaded',
  uploadingNote: 'Done when it is in R2',
  checksIn: (time: string) => `Checked in ${time}`,
  sentence: {
    ready: 'It starts as soon as a slot is free.',
    delayed: (time: string) => `New jobs are held back for a moment. The next start is in ${time}.`,
    retrying: (cause: string, time: string) => `${cause}. The next attempt is in ${time}.`,
    failedBefore: 'The last attempt failed in a way that can pass',
    tokens: (time: string) => `All tokens for this minute are in use. The next start is in ${time}.`,
    requests: (time: string) => `All requests for this minute are in use. The next start is in ${time}.`,
    larger:
      'The next job needs more tokens than a minute allows. It runs alone as soon as nothing else does.',
    capDay: (cap: string, until: string, needed: string) =>
      `Today’s cap of ${cap} is reached. It opens again at ${until}; with ${needed} the next job could start now.`,
    capMonth: (cap: string, until: string, needed: string) =>
      `This month’s cap of ${cap} is reached. It opens again on ${until}; with ${needed} the next job could start now.`,
    capBatch: (cap: string, needed: string) =>
      `The cap of ${cap} for the batch is reached. With ${needed} the next job could start.`,
    price: (model: string) => `No price is known for ${model}, so nothing is sent until you set one.`,
    behindHigh: 'High goes first. Bulk starts when High leaves room.',
    lanePaused: (lane: string) => `You paused ${lane}.`,
    batchPaused: 'You paused the batch.',
    jobPaused: 'You paused every job that waits here.',
    jobPausedAlone: 'You paused this job.',
    filling: (time: string) =>
      `Jobs are collected and handed to Claude’s batch API together, in ${time} at most.`,
    batchApi: (why: string) => `Claude’s batch API took nothing. ${why}`,
    pilotLeft: (left: number) =>
      `It waits for the pilot of its batch, of which ${left === 1 ? 'one job is' : `${left} jobs are`} left.`,
    pilotEnded: 'The pilot has ended. Look at what it came to, then release the others or cancel them.',
    uploading: 'The summary is written and saved here. The job is done when it is in R2, too.',
    uploadingMet: (message: string) => `The summary is written and saved here, but not in R2 yet: ${message}`,
    hours: (time: string) => `Outside Bulk hours: Bulk starts again at ${time}.`,
    offline: (time: string) => `No connection. It is checked again in ${time}; nothing is lost.`,
  },
};
