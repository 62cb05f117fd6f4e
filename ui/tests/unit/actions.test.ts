/** What is done at once, what asks first, and what can be taken back. */
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { App } from '../../src/app/app.svelte';
import { EVERY_JOB, NO_CHANGES, type Backend } from '../../src/backend/backend';
import { createBackend } from '../../src/backend/mock';
import type { JobView } from '../../src/backend/types/JobView';
import { RetryForm } from '../../src/actions/retry.svelte';
import { speak } from '../../src/text/text.svelte';

let app: App;
let backend: Backend;

beforeEach(async () => {
  speak('en');
  backend = createBackend(new URLSearchParams('freeze'));
  app = new App(backend);
  app.settings = await backend.settings();
  await app.readOverview();
  await app.showJobs();
});

async function oneOf(shown: 'waiting' | 'running' | 'dead-letters'): Promise<JobView> {
  const job = (await backend.jobs({ ...EVERY_JOB, shown }, null, 1)).jobs[0];
  if (!job) throw new Error(`nothing is ${shown}`);
  return job;
}

const now = async (job: JobView): Promise<JobView> => (await backend.job(job.jobId)).job;
const lastToast = () => app.toasts.list.at(-1);

describe('an action on listed jobs', () => {
  it.each([
    [{ action: 'pause' }, (job: JobView) => job.paused],
    [{ action: 'move-to', queue: 'high' }, (job: JobView) => job.queue === 'high'],
    [{ action: 'cancel' }, (job: JobView) => job.status === 'cancelled'],
  ] as const)('%o is done at once and taken back by undo', async (action, done) => {
    const job = await oneOf('waiting');
    await app.actions.on([job], action);
    expect(app.actions.asked).toBeNull();
    expect(done(await now(job))).toBe(true);
    expect(app.toasts.undoLast()).toBe(true);
    await vi.waitFor(async () => expect(done(await now(job))).toBe(false));
    expect((await now(job)).status).toBe('pending');
  });

  it('asks before a call under way is called off', async () => {
    const job = await oneOf('running');
    await app.actions.on([job], { action: 'cancel' });
    expect(app.actions.asked?.affected).toEqual({ jobs: 1, unchanged: 0 });
    expect((await now(job)).status).toBe('running');
    await app.actions.confirm();
    expect((await now(job)).status).toBe('cancelled');
    expect(lastToast()?.undo, 'money may be spent: this is not taken back').toBeNull();
  });

  it('asks before anything is lost, and it is gone after that', async () => {
    const job = await oneOf('dead-letters');
    await app.actions.on([job], { action: 'purge' });
    expect(app.actions.asked?.only?.jobId).toBe(job.jobId);
    await app.actions.confirm();
    await expect(backend.job(job.jobId)).rejects.toMatchObject({ code: 'not-found' });
  });

  it('says so where nothing fits', async () => {
    await app.actions.on([await oneOf('dead-letters')], { action: 'pause' });
    expect(lastToast()?.title).toBe('Nothing to do for the selected jobs');
  });
});

describe('an action on all that match', () => {
  it('counts first, and changes nothing until it is confirmed', async () => {
    const before = (await backend.jobs({ ...EVERY_JOB, shown: 'waiting' }, null, 1)).total;
    app.jobs.selectEverything();
    await app.actions.onSelection({ action: 'cancel' });
    expect(app.actions.asked?.affected).toEqual({ jobs: before + 6, unchanged: 369 });
    expect((await backend.jobs({ ...EVERY_JOB, shown: 'waiting' }, null, 1)).total).toBe(before);
    await app.actions.confirm();
    expect((await backend.jobs({ ...EVERY_JOB, shown: 'cancelled' }, null, 1)).total).toBe(before + 6);
  });
});

describe('a dry run', () => {
  const everything = {
    selection: { select: 'matching' as const, filter: { ...EVERY_JOB, shown: 'dead-letters' as const } },
    jobs: 23,
    changes: {},
  };

  it('tells what then happens', async () => {
    const plan = await backend.planRetry(everything.selection, NO_CHANGES);
    const left = plan.wouldNot.reduce((sum, each) => sum + each.jobs, 0);
    expect(plan.wouldRun + left).toBe(23);
    expect(plan.expectedMicros).toBeLessThan(plan.atWorstMicros ?? 0);
    const affected = await backend.retry(everything.selection, NO_CHANGES);
    expect(affected).toEqual({ jobs: plan.wouldRun, unchanged: left });
  });

  it('is made anew after each change, and only the last one counts', async () => {
    const planRetry = vi.spyOn(backend, 'planRetry');
    const form = new RetryForm(backend, everything);
    form.set({ model: 'claude-o' });
    form.set({ model: 'claude-opus-4-6' });
    expect(form.plan, 'an old plan is no plan for what is shown').toBeNull();
    await vi.waitFor(() => expect(form.plan?.wouldRun).toBeGreaterThan(0));
    expect(planRetry.mock.lastCall?.[1].model).toBe('claude-opus-4-6');
    expect(planRetry).toHaveBeenCalledTimes(2);
  });

  it('is not made of a wrong limit', async () => {
    const form = new RetryForm(backend, everything);
    form.setLimit('12');
    expect(form.limitFits).toBe(false);
    expect(form.plan).toBeNull();
    form.setLimit('8192');
    await vi.waitFor(() => expect(form.plan).not.toBeNull());
    expect(form.effective.maxTokens).toBe(8192);
  });

  it('asks the offline summary for no model', () => {
    const form = new RetryForm(backend, everything);
    form.set({ model: 'claude-opus-4-6', provider: 'offline' });
    expect(form.effective).toMatchObject({ provider: 'offline', model: null, template: null });
  });
});
