import { beforeEach, describe, expect, it } from 'vitest';
import { freezeClock } from '../../src/app/clock.svelte';
import { EVERY_JOB, NO_CHANGES, type Backend } from '../../src/backend/backend';
import { createBackend } from '../../src/backend/mock';
import type { Submission } from '../../src/backend/types/Submission';
import { waitingLines, waitingSentence } from '../../src/queue/waiting';

const asked: Submission = {
  name: 'Papers',
  queue: 'bulk',
  delivery: null,
  template: 'meeting-minutes-v1',
  provider: 'claude',
  model: null,
  capMicros: null,
  paused: false,
  variables: {},
  fresh: false,
  pilot: 3,
};

describe('a pilot of the played engine', () => {
  let backend: Backend;
  beforeEach(() => {
    freezeClock(1_770_000_000_000);
    backend = createBackend(new URLSearchParams('freeze&empty'));
  });

  it('has the other jobs wait until they are released', async () => {
    const report = await backend.scan(['/papers/folder']);
    const { batchId, jobIds } = await backend.submitScan(report.scanId, asked);
    const page = await backend.jobs(EVERY_JOB, null, 500);
    const waits = page.jobs.filter((job) => job.waiting?.reason === 'pilot');
    expect(waits).toHaveLength(jobIds.length - 3);
    const [one] = waits;
    expect(one && waitingLines(one, 0).second).toBe('3 pilot jobs left');
    const told = await backend.pilot(batchId, NO_CHANGES);
    expect(told.batch.pilot).toEqual({ jobs: 3, left: 3, waiting: waits.length, released: false });
    expect(told.rest.jobs).toBe(waits.length);
    const released = await backend.releasePilot(batchId, { ...NO_CHANGES, model: 'claude-haiku-4-5' });
    expect(released.jobs).toBe(waits.length);
    const after = await backend.jobs(EVERY_JOB, null, 500);
    expect(after.jobs.filter((job) => job.model === 'claude-haiku-4-5')).toHaveLength(waits.length);
    expect(after.jobs.some((job) => job.waiting?.reason === 'pilot')).toBe(false);
  });

  it('may end with the other jobs called off', async () => {
    const report = await backend.scan(['/papers/folder']);
    const { batchId, jobIds } = await backend.submitScan(report.scanId, asked);
    await backend.cancelBehindPilot(batchId);
    const { batches } = await backend.overview();
    expect(batches[0]?.counts.cancelled).toBe(jobIds.length - 3);
    await expect(backend.pilot('no-such-batch', NO_CHANGES)).rejects.toMatchObject({ code: 'bad-input' });
  });

  it('is said to have ended in a sentence', () => {
    const sentence = waitingSentence({ reason: 'pilot', left: 0 }, 'bulk', 0, false);
    expect(sentence).toContain('The pilot has ended');
    expect(waitingSentence({ reason: 'pilot', left: 1 }, 'bulk', 0, true)).toContain('one job is left');
  });

  it('has a forecast by each way, half the price by batch', async () => {
    const report = await backend.scan(['/papers/folder']);
    await backend.countTokens(report.scanId, asked);
    const told = await backend.forecastSubmission(report.scanId, asked);
    expect(told.deliveries.map((way) => way.delivery)).toEqual(['high', 'bulk', 'batch']);
    const [high, , batch] = told.deliveries;
    expect(batch?.price?.worstMicros).toBe(Math.ceil((high?.price?.worstMicros ?? 0) / 2));
  });
});
