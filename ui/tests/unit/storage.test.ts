/** Setting up a bucket, planning what is added, and what is said of uploads. */
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { AddPlan } from '../../src/add/plan.svelte';
import { askedFor, valuesFor } from '../../src/add/variables';
import { App } from '../../src/app/app.svelte';
import type { Backend } from '../../src/backend/backend';
import { createBackend } from '../../src/backend/mock';
import type { Submission } from '../../src/backend/types/Submission';
import { fileNameOf } from '../../src/export/ask';
import { BucketForm } from '../../src/storage/bucket.svelte';
import { uploadLine } from '../../src/storage/troubles';
import { DraftForm, standIns } from '../../src/templates/draft.svelte';
import { joined } from '../../src/text/join';
import { speak } from '../../src/text/text.svelte';

const ACCOUNT = '4f1c9b7e20d84a6c8e5530b1a7d2f964';
let app: App;
let backend: Backend;

async function start(query: string): Promise<void> {
  speak('en');
  backend = createBackend(new URLSearchParams(query));
  app = new App(backend);
  app.settings = await backend.settings();
  app.templates = await backend.templates();
  await app.readOverview();
}

beforeEach(() => start('freeze&lang=en'));

describe('a bucket that is set up', () => {
  it('takes account, jurisdiction, bucket and folder from a pasted address', async () => {
    const form = new BucketForm(app);
    await form.paste(`https://${ACCOUNT}.fedramp.r2.cloudflarestorage.com/papers/a/b`);
    expect(form.draft).toMatchObject({
      accountId: ACCOUNT,
      jurisdiction: 'fedramp',
      bucket: 'papers',
      folder: 'a/b',
      endpoint: null,
    });
    expect(form.filled).toBe(true);
  });

  it('takes another server’s address, whose account it then leaves out', async () => {
    const form = new BucketForm(app);
    form.set({ accountId: ACCOUNT });
    await form.paste('https://s3.example.org/papers');
    expect(form.other).toBe(true);
    expect(form.effective).toMatchObject({
      endpoint: 'https://s3.example.org',
      accountId: '',
      bucket: 'papers',
    });
  });

  it('keeps what can’t be read, and says what is wrong with it', async () => {
    const form = new BucketForm(app);
    await form.paste('my account');
    expect(form.draft.accountId).toBe('my account');
    expect(form.wrong('accountId')).toMatch(/32 hexadecimal digits/);
  });

  it('is not tested while something is missing', async () => {
    const form = new BucketForm(app);
    const test = vi.spyOn(backend, 'testBucket');
    await form.runTest();
    expect(test).not.toHaveBeenCalled();
    expect(form.wrong('bucket')).not.toBeNull();
  });

  it('forgets a test as soon as what was tested changes, and one that was stopped', async () => {
    await start('freeze&bucket=ok');
    const form = new BucketForm(app);
    await form.read();
    await form.runTest();
    expect(form.test?.trouble).toBeNull();
    form.set({ bucket: 'other' });
    expect(form.test).toBeNull();
    const running = form.runTest();
    form.stopTest();
    await running;
    expect([form.test, form.testing]).toEqual([null, false]);
  });

  it('keeps the secret for the session where there is no keychain', async () => {
    await start('freeze&bucket=none&key=no-keychain');
    const form = new BucketForm(app);
    expect(form.sessionOnly).toBe(true);
    form.sessionOnly = false;
    form.set({ enabled: true, accountId: ACCOUNT, bucket: 'papers', accessKeyId: 'a' });
    form.secret = 'shh';
    await form.save();
    expect(form.problem?.code).toBe('keychain-unavailable');
    expect([form.sessionOnly, form.secret, app.settings.bucket]).toEqual([true, 'shh', null]);
    await form.save();
    expect(form.secret, 'the engine has it').toBe('');
    expect(form.status).toMatchObject({ secretSet: true, secretSource: 'session' });
    expect(form.dirty).toBe(false);
  });
});

describe('the line about uploads', () => {
  const nothing = { enabled: true, waiting: 0, oldestAt: null, failed: 0, trouble: null, retryAt: null };
  const trouble = { cause: 'unreachable' as const, message: 'm', hint: 'h' };

  it('is there only when something waits or failed', () => {
    expect(uploadLine(nothing)).toBeNull();
    expect(uploadLine({ ...nothing, enabled: false, waiting: 3 })).toBeNull();
    expect(uploadLine({ ...nothing, waiting: 3 })).toEqual({ text: '3 uploads waiting', bad: false });
    expect(uploadLine({ ...nothing, failed: 1 })).toEqual({ text: '1 upload failed', bad: true });
  });

  it('says what stands in the way', () => {
    expect(uploadLine({ ...nothing, waiting: 3, trouble })?.text).toBe(
      '3 uploads waiting: no connection to R2',
    );
  });
});

describe('a plan of what is added', () => {
  const submission: Submission = {
    name: 'n',
    queue: 'bulk',
    delivery: null,
    template: 'pdf-summarize-v4',
    provider: 'claude',
    model: null,
    capMicros: null,
    paused: false,
    variables: {},
    fresh: false,
    pilot: null,
  };

  it('is made again only when something changed, and the last answer counts', async () => {
    const report = await backend.scan(['/papers/folder']);
    const planSubmission = vi.spyOn(backend, 'planSubmission');
    const plan = new AddPlan(backend);
    plan.look(report, submission);
    plan.look(report, { ...submission });
    await vi.waitFor(() => expect(plan.plan).toMatchObject({ toRun: 120, reused: 4 }));
    // Once more after the provider has counted, which may change the figures.
    await vi.waitFor(() => expect(plan.plan).toMatchObject({ counted: 120 }));
    planSubmission.mockClear();
    plan.look(report, { ...submission, variables: { a: '1' } });
    plan.look(report, { ...submission, variables: { a: '12' } });
    await vi.waitFor(() => expect(planSubmission).toHaveBeenCalled());
    expect(planSubmission).toHaveBeenCalledOnce();
    plan.look(report, { ...submission, fresh: true });
    await vi.waitFor(() => expect(plan.plan).toMatchObject({ toRun: 124, reused: 0 }));
    plan.end();
  });

  it('follows the files that a password opened', async () => {
    const report = await backend.scan(['/papers/folder']);
    const plan = new AddPlan(backend);
    plan.look(report, submission);
    await vi.waitFor(() => expect(plan.plan).toMatchObject({ toRun: 120 }));
    plan.look(await backend.unlockScan(report.scanId, 'sesame'), submission);
    await vi.waitFor(() => expect(plan.plan).toMatchObject({ toRun: 122 }));
  });

  it('lets Claude count, never asks it for what is free, and goes on where it can’t', async () => {
    await start('freeze&fail=countTokens:provider-unavailable');
    const report = await backend.scan(['/papers/folder']);
    const count = vi.spyOn(backend, 'countTokens');
    const plan = new AddPlan(backend);
    plan.look(report, { ...submission, provider: 'offline' });
    await vi.waitFor(() => expect(plan.plan).toMatchObject({ atWorstMicros: 0 }));
    expect(count).not.toHaveBeenCalled();
    plan.look(report, submission);
    await vi.waitFor(() => expect(plan.tokens.state).toBe('failed'));
    expect(count).toHaveBeenCalledOnce();
    await vi.waitFor(() => expect(plan.plan?.atWorstMicros).toBeGreaterThan(0));
    expect([plan.problem, plan.plan?.estimates]).toEqual([null, null]);
    plan.end();
  });

  it('hands on the values that the template asks for, and no empty ones', () => {
    const brief = app.templates.find((each) => each.templateId === 'pdf-summarize');
    const lease = app.templates.find((each) => each.templateId === 'lease-abstract');
    expect(askedFor(brief)).toEqual(['language']);
    expect(askedFor(lease)).toEqual(['currency']);
    expect(valuesFor(lease, { currency: ' EUR ', language: 'Dutch' })).toEqual({ currency: 'EUR' });
    expect(valuesFor(brief, { language: ' ' })).toEqual({});
  });
});

describe('a template that is written', () => {
  it('saves fields with their shape only', async () => {
    const lease = app.templates.find((each) => each.kind === 'fields') ?? null;
    const form = new DraftForm(backend, lease);
    await vi.waitFor(() => expect(form.preview).not.toBeNull());
    expect([form.dirty, form.ready]).toEqual([false, false]);
    form.set({ kind: 'prose' });
    expect(form.draft.fields).toEqual([]);
    form.set({ kind: 'fields' });
    expect(form.draft.fields).toHaveLength(5);
    form.moveField(1, -1);
    expect(form.draft.fields.map((field) => field.name).slice(0, 2)).toEqual(['starts_on', 'tenant']);
    form.moveField(0, -1);
    expect(form.draft.fields[0]?.name).toBe('starts_on');
    await vi.waitFor(() => expect(form.ready).toBe(true));
  });

  it('is not ready while the engine has a word against it', async () => {
    const form = new DraftForm(backend, null);
    form.set({ name: 'A', body: 'Say {this' });
    await vi.waitFor(() => expect(form.preview?.problem).toMatch(/brace/));
    expect(form.ready).toBe(false);
  });

  it('shows variables of one’s own by their names', () => {
    expect(standIns('{file_name} {audience} {language}')).toEqual({ audience: '{audience}' });
  });
});

describe('words', () => {
  it('make a file name that every system takes', () => {
    expect(fileNameOf('Q1/Q2: "final".pdf')).toBe('Q1-Q2- -final-');
    expect(fileNameOf('有価証券報告書 2025年3月期')).toBe('有価証券報告書 2025年3月期');
    expect(fileNameOf('...')).toBe('Jobs');
  });

  it('are joined with a space where the script has them', () => {
    expect(joined('One.', null, 'Two.')).toBe('One. Two.');
    expect(joined('一つ。', '', '二つ。')).toBe('一つ。二つ。');
  });
});
