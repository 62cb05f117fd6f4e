/** Half price: which jobs go that way, how they are shown, and what can be done with them. */
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { RetryForm } from '../../src/actions/retry.svelte';
import { fits } from '../../src/actions/fits';
import { jobMenu } from '../../src/actions/job-menu';
import { App } from '../../src/app/app.svelte';
import { EVERY_JOB, NO_CHANGES, type Backend } from '../../src/backend/backend';
import { createBackend } from '../../src/backend/mock';
import type { JobView } from '../../src/backend/types/JobView';
import type { Submission } from '../../src/backend/types/Submission';
import { answersOf } from '../../src/flow/answer';
import { PilotLook } from '../../src/pilot/pilot.svelte';
import { costCell, progressCell, statusNote } from '../../src/queue/cells';
import { statusOf } from '../../src/queue/status';
import { changedWay, changesTo, goingOf, takesBatches, usualWay, wayName, wayOf } from '../../src/queue/way';
import { liveOf } from '../../src/sidebar/parts';
import { speak } from '../../src/text/text.svelte';

const HALF: Submission = {
  name: 'Papers',
  queue: 'bulk',
  delivery: 'batch',
  template: 'pdf-summarize-v4',
  provider: 'claude',
  model: null,
  capMicros: null,
  paused: false,
  variables: {},
  fresh: false,
  pilot: null,
};

let app: App;
let backend: Backend;

async function start(query: string): Promise<void> {
  speak('en');
  backend = createBackend(new URLSearchParams(`freeze&${query}`));
  app = new App(backend);
  app.settings = await backend.settings();
  app.endpoint = await backend.endpoint();
  await app.readOverview();
  await app.showJobs();
}

const all = async (): Promise<JobView[]> => (await backend.jobs(EVERY_JOB, null, 2000)).jobs;
async function submitted(): Promise<JobView> {
  const job = (await all()).find((each) => each.status === 'submitted');
  if (!job) throw new Error('nothing is with the batch API');
  return job;
}

beforeEach(() => start('halfPrice'));

describe('a way', () => {
  it('is a lane and a delivery, and the other way round', () => {
    for (const way of ['high', 'bulk', 'batch'] as const) {
      expect(wayOf(goingOf(way))).toBe(way);
      expect(changedWay({ ...NO_CHANGES, ...changesTo(way) })).toBe(way);
    }
    expect(changedWay({ ...NO_CHANGES, ...changesTo(null) })).toBeNull();
    expect(wayName('batch')).toBe('Half price');
  });

  it('is the usual one of its lane, and half price is offered where it can be had', async () => {
    expect(usualWay(app.overview.lanes, 'bulk')).toBe('bulk');
    expect(takesBatches(app)).toBe(true);
    await start('endpoint=ollama&baseUrl=http://localhost:11434');
    expect(takesBatches(app)).toBe(false);
    await start('endpoint=ollama&baseUrl=http://localhost:11434&batchLane');
    expect(takesBatches(app), 'the lane is set so').toBe(true);
    expect(usualWay(app.overview.lanes, 'bulk')).toBe('batch');
    expect(usualWay(app.overview.lanes, 'high')).toBe('high');
  });
});

describe('a submission', () => {
  it('has its jobs collected for the batch API, and those of its pilot asked call by call', async () => {
    const report = await backend.scan(['/papers/folder']);
    const { batchId, jobIds } = await backend.submitScan(report.scanId, { ...HALF, pilot: 3 });
    const jobs = (await all()).filter((job) => job.batchId === batchId && !job.reused);
    const pilot = jobs.filter((job) => job.waiting?.reason !== 'pilot');
    expect(pilot.map((job) => job.delivery)).toEqual(['each', 'each', 'each']);
    expect(jobs.filter((job) => job.delivery === 'batch')).toHaveLength(
      jobIds.length - 3 - (jobIds.length - jobs.length),
    );
    const look = new PilotLook(backend, batchId);
    look.refresh();
    await vi.waitFor(() => expect(look.way, 'of those that wait, not of the pilot').toBe('batch'));
    await backend.releasePilot(batchId, { ...NO_CHANGES, ...goingOf('bulk') });
    const left = (await all()).filter((job) => job.batchId === batchId && job.delivery === 'batch');
    expect(left.every((job) => job.reused)).toBe(true);
  });

  it('that says nothing goes as the lane says; High and offline summaries never do', async () => {
    await start('batchLane&empty');
    const report = await backend.scan(['/papers/a.pdf']);
    const going = async (change: Partial<Submission>): Promise<string | undefined> => {
      const { batchId } = await backend.submitScan(report.scanId, { ...HALF, delivery: null, ...change });
      return (await all()).find((job) => job.batchId === batchId)?.delivery;
    };
    expect(await going({})).toBe('batch');
    expect(await going({ delivery: 'each' })).toBe('each');
    expect(await going({ queue: 'high' })).toBe('each');
    expect(await going({ provider: 'offline' })).toBe('each');
  });
});

describe('a job that is with the batch API', () => {
  it('says since when, and what that usually takes', async () => {
    const job = await submitted();
    expect(statusOf(job)).toEqual({ word: 'sent', icon: 'moon', look: 'sent' });
    expect(statusNote(job, job.startedAt ?? 0)).toMatch(/^Sent \d\d:\d\d$/);
    expect(progressCell(job, undefined, (job.startedAt ?? 0) + 44_000)).toEqual({
      first: 'With provider, 0:44',
      second: 'Often 1 h, at most 24 h',
    });
    expect(costCell(job).first, 'only the most it comes to is known before it is answered').toMatch(
      /^up to \$\d+\.\d\d$/,
    );
    const { remote } = await backend.job(job.jobId);
    expect(remote?.remoteId).toMatch(/^msgbatch_/);
    expect(remote?.requests).toBeGreaterThan(1);
  });

  it('can be called off after a question, and nothing else', async () => {
    const job = await submitted();
    expect(fits(job, { action: 'cancel' })).toBe(true);
    for (const action of [
      { action: 'pause' },
      { action: 'move-to', queue: 'high' },
      { action: 'run-now' },
      { action: 'purge' },
    ] as const) {
      expect(fits(job, action), action.action).toBe(false);
    }
    const entries = jobMenu(app, job).map((entry) => entry.id);
    expect(entries).toContain('cancel');
    expect(entries).not.toContain('pause');
    expect(entries).not.toContain('lane');
    expect(entries).not.toContain('again');
    await app.actions.on([job], { action: 'cancel' });
    expect(app.actions.asked?.only?.jobId).toBe(job.jobId);
    await app.actions.confirm();
    expect((await backend.job(job.jobId)).job.status).toBe('cancelled');
    expect(app.toasts.list.at(-1)?.undo, 'it may be paid for: this is not taken back').toBeNull();
  });

  it('is not counted among what this computer is at', () => {
    const [high, bulk] = app.overview.lanes;
    expect(high?.submitted).toBeNull();
    expect(bulk && bulk.running - liveOf(bulk)).toBe(bulk?.submitted?.jobs);
  });
});

describe('running again', () => {
  it('at half price costs half, and call by call the whole again', async () => {
    const selection = {
      select: 'matching' as const,
      filter: { ...EVERY_JOB, cause: 'overloaded' as const, shown: 'dead-letters' as const },
    };
    const live = await backend.planRetry(selection, { ...NO_CHANGES, ...changesTo('bulk') });
    const half = await backend.planRetry(selection, { ...NO_CHANGES, ...changesTo('batch') });
    expect(half.wouldRun).toBe(live.wouldRun);
    expect((half.atWorstMicros ?? 0) / (live.atWorstMicros ?? 1)).toBeCloseTo(0.5, 3);
    await backend.retry(selection, { ...NO_CHANGES, ...changesTo('batch') });
    const [job] = (await all()).filter((each) => each.delivery === 'batch' && each.batchId === 'batch-soil');
    expect(job?.waiting?.reason).toBe('filling-batch');
  });

  it('offline forgets half price, and the choice is there where jobs go so already', async () => {
    const selection = { select: 'jobs' as const, jobIds: [(await submitted()).jobId] };
    const form = new RetryForm(backend, { selection, jobs: 1, changes: goingOf('batch') });
    form.set({ provider: 'offline' });
    expect(changedWay(form.effective)).toBe('bulk');
    expect(form.hasBatch).toBe(false);
    await form.lookAtJobs();
    expect(form.hasBatch).toBe(true);
  });
});

describe('another lane', () => {
  it('ends half price, and is not offered to be taken back where that would cost twice', async () => {
    const job = (await all()).find((each) => each.delivery === 'batch' && each.status === 'pending');
    if (!job) throw new Error('nothing is collected');
    await app.actions.on([job], { action: 'move-to', queue: 'high' });
    expect((await backend.job(job.jobId)).job.delivery).toBe('each');
    expect(app.toasts.list.at(-1)?.undo, 'Bulk would ask it call by call').toBeNull();
  });
});

describe('the lane', () => {
  it('takes all of its jobs along that are not done when its setting changes', async () => {
    const { settings } = app.overview.lanes[1] ?? {};
    if (!settings) throw new Error('there are two lanes');
    await backend.saveLane('bulk', { ...settings, delivery: 'batch' });
    const waiting = (await all()).filter((job) => job.status === 'pending');
    expect(waiting.every((job) => (job.delivery === 'batch') === (job.queue === 'bulk'))).toBe(true);
  });

  it('that only waits for the batch API says so, and what keeps it from knowing', async () => {
    const overview = structuredClone(await backend.overview());
    const since = Date.now();
    overview.counts.waiting = 0;
    for (const lane of overview.lanes) Object.assign(lane, { running: 0, waiting: 0, obstacle: null });
    const view = { jobs: 112, remoteBatches: 2, since, trouble: null as string | null };
    Object.assign(overview.lanes[1] ?? {}, { running: 112, submitted: view });
    expect(answersOf(overview, since)[0]).toMatchObject({ reason: 'sent', question: 'At the provider.' });
    view.trouble = 'The batch API answered 503.';
    expect(answersOf(overview, since)[0]).toMatchObject({ reason: 'sent-trouble', sentence: view.trouble });
    for (const lane of overview.lanes) Object.assign(lane, { paused: true, waiting: 2 });
    expect(answersOf(overview, since)[0]?.sentence).toContain('112 half-price jobs go on at the provider.');
  });
});
