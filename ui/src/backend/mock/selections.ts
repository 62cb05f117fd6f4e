/** What the played engine does with a selection, and what it would do. */
import { currentTime } from '../../app/clock.svelte';
import { causesEn } from '../../text/causes.en';
import type { Affected } from '../types/Affected';
import type { BulkAction } from '../types/BulkAction';
import type { Cause } from '../types/Cause';
import type { DeadLetterGroup } from '../types/DeadLetterGroup';
import type { Fix } from '../types/Fix';
import type { JobId } from '../types/JobId';
import type { LeftOutReason } from '../types/LeftOutReason';
import type { Place } from '../types/Place';
import type { RetryChanges } from '../types/RetryChanges';
import type { RetryPlan } from '../types/RetryPlan';
import type { Selection } from '../types/Selection';
import { EVERY_JOB } from '../backend';
import { costOf } from './budget';
import type { PlayedEngine } from './engine';
import type { PlayedJob } from './fixtures';
import { noticeOf } from './models';
import { share } from './remote';
import { pathOf } from './results';
import { opensJob, wrongPassword } from './scans';

/** Findings that no other attempt changes. */
const LASTING: Cause[] = [
  'pdf-encrypted',
  'pdf-truncated',
  'pdf-cipher-unknown',
  'pdf-damaged',
  'not-a-pdf',
  'too-many-pages',
];

const FIXES: Partial<Record<Cause, Fix>> = {
  'cut-off': 'raise-output-limit',
  'file-missing': 'put-file-back',
  'pdf-encrypted': 'give-password',
  'pdf-truncated': 'replace-file',
  'pdf-cipher-unknown': 'replace-file',
  'pdf-damaged': 'replace-file',
  'files-not-taken': 'replace-file',
  'too-many-pages': 'replace-file',
  offline: 'check-connection',
  'storage-failed': 'free-space',
  'key-missing': 'add-key',
  'key-refused': 'test-key',
  'permission-denied': 'test-key',
  'model-not-found': 'choose-model',
  'model-retired': 'choose-model',
  'batches-not-offered': 'change-delivery',
  'document-not-read': 'send-text',
  'pdf-not-taken': 'send-text',
  'billing-problem': 'open-console',
  'credit-exhausted': 'open-console',
  'usage-limit-reached': 'open-console',
  'spend-limit-reached': 'open-console',
  'organization-on-hold': 'open-console',
};

export function fixOf(cause: Cause): Fix {
  return FIXES[cause] ?? 'run-again';
}

export function selected(engine: PlayedEngine, selection: Selection): PlayedJob[] {
  if (selection.select === 'matching') return engine.matching(selection.filter);
  const wanted = new Set(selection.jobIds);
  return engine.jobs.filter((job) => wanted.has(job.jobId));
}

function changed(engine: PlayedEngine, job: PlayedJob, changes: RetryChanges): PlayedJob {
  const provider = changes.provider ?? job.provider;
  const template = changes.template ?? job.template;
  const queue = changes.queue ?? job.queue;
  // In another lane they go as that lane says.
  const wanted = changes.delivery ?? (queue === job.queue ? job.delivery : null);
  const usual = job.provider === 'offline' ? 'claude-sonnet-4-6' : job.model;
  return {
    ...job,
    provider,
    model: provider === 'offline' ? 'extractive-v1' : (changes.model ?? usual),
    template,
    hasFields: template.startsWith('lease-abstract'),
    queue,
    delivery: engine.remote.deliveryOf({ queue, provider }, wanted),
    maxTokens: changes.maxTokens ?? job.maxTokens,
  };
}

function leftOut(engine: PlayedEngine, job: PlayedJob, completed: boolean): LeftOutReason | null {
  if (job.status === 'completed' && !completed) return { why: 'completed' };
  if (['pending', 'running', 'submitted'].includes(job.status)) return { why: 'live' };
  if (job.cause === 'file-missing') return { why: 'file-missing' };
  const fits = job.cause === 'too-many-pages' && job.provider === 'offline';
  if (job.cause !== null && LASTING.includes(job.cause) && !fits) return { why: 'finding', cause: job.cause };
  if (job.provider === 'offline' && job.hasFields) return { why: 'fields-need-claude' };
  if (job.provider === 'claude' && !engine.prices.of(job.model))
    return { why: 'price-unknown', model: job.model };
  return null;
}

export function planRetry(engine: PlayedEngine, selection: Selection, changes: RetryChanges): RetryPlan {
  const reasons = new Map<string, { reason: LeftOutReason; jobs: number }>();
  const models = new Set<string>();
  const plan: RetryPlan = {
    wouldRun: 0,
    wouldNot: [],
    expectedMicros: 0,
    atWorstMicros: 0,
    modelNotices: [],
  };
  for (const job of selected(engine, selection).map((each) => changed(engine, each, changes))) {
    const reason = leftOut(engine, job, changes.completed);
    if (reason) {
      const key = JSON.stringify(reason);
      reasons.set(key, { reason, jobs: (reasons.get(key)?.jobs ?? 0) + 1 });
      continue;
    }
    plan.wouldRun += 1;
    if (job.provider === 'claude') models.add(job.model);
    const price = job.provider === 'offline' ? undefined : engine.prices.of(job.model);
    if (!price) continue;
    const cost = costOf(job, price);
    plan.expectedMicros = (plan.expectedMicros ?? 0) + share(job.delivery, cost.expected);
    plan.atWorstMicros = (plan.atWorstMicros ?? 0) + share(job.delivery, cost.atWorst);
  }
  plan.wouldNot = [...reasons.values()];
  plan.modelNotices = [...models].flatMap((model) => noticeOf(model) ?? []);
  return plan;
}

/** What a run left stays as the result of an earlier run. */
function keepOlder(engine: PlayedEngine, job: PlayedJob): void {
  const older = engine.older.get(job.jobId) ?? [];
  const generation = older.length + 1;
  const { model, template } = job;
  const createdAt = job.completedAt ?? currentTime();
  engine.older.set(job.jobId, [
    { generation, model, template, path: pathOf(job, generation), createdAt },
    ...older,
  ]);
}

export function retry(engine: PlayedEngine, selection: Selection, changes: RetryChanges): Affected {
  const jobs = selected(engine, selection);
  const able = jobs.filter(
    (job) => leftOut(engine, changed(engine, job, changes), changes.completed) === null,
  );
  for (const job of able) {
    if (job.status === 'completed' || job.status === 'needs-review') keepOlder(engine, job);
    Object.assign(job, changed(engine, job, changes), {
      reused: false,
      status: 'pending',
      waiting: { reason: 'ready' },
      paused: false,
      attempts: 0,
      startedAt: null,
      completedAt: null,
      cause: null,
      error: null,
    });
  }
  engine.changed(able.map((job) => job.jobId));
  return { jobs: able.length, unchanged: jobs.length - able.length };
}

/** Whether nothing of a job's file can be shown. */
export function isUnreadable(job: PlayedJob): boolean {
  return job.cause !== null && (LASTING.includes(job.cause) || job.cause === 'file-missing');
}

/** Puts jobs back whose file the password opens; of several, the last one has another password. */
export function unlockJobs(engine: PlayedEngine, selection: Selection, password: string): Affected {
  const jobs = selected(engine, selection);
  const locked = jobs.filter((job) => job.cause === 'pdf-encrypted');
  if (!opensJob(password)) throw wrongPassword(locked.length);
  const opened = locked.filter((_, at) => locked.length === 1 || at < locked.length - 1);
  for (const job of opened) {
    Object.assign(job, {
      status: 'pending',
      waiting: { reason: 'ready' },
      pages: 12,
      attempts: 0,
      startedAt: null,
      completedAt: null,
      cause: null,
      error: null,
    });
  }
  engine.changed(opened.map((job) => job.jobId));
  return { jobs: opened.length, unchanged: jobs.length - opened.length };
}

function fits(job: PlayedJob, action: BulkAction): boolean {
  const waits = job.status === 'pending';
  switch (action.action) {
    case 'run-now':
      return waits && !job.paused;
    case 'cancel':
      return waits || job.status === 'running' || job.status === 'submitted';
    case 'pause':
      return waits && !job.paused;
    case 'resume':
      return waits && job.paused;
    case 'move-to':
      return waits && job.queue !== action.queue;
    case 'mark-reviewed':
      return job.status === 'needs-review';
    case 'unmark-reviewed':
      return job.reviewed;
    case 'purge':
      return job.status !== 'running' && job.status !== 'submitted';
  }
}

export function planAction(engine: PlayedEngine, selection: Selection, action: BulkAction): Affected {
  const jobs = selected(engine, selection);
  const able = jobs.filter((job) => fits(job, action)).length;
  return { jobs: able, unchanged: jobs.length - able };
}

export function applyAction(engine: PlayedEngine, selection: Selection, action: BulkAction): Affected {
  const jobs = selected(engine, selection);
  const able = jobs.filter((job) => fits(job, action));
  for (const job of able) {
    switch (action.action) {
      case 'run-now':
        job.waiting = { reason: 'ready' };
        break;
      case 'cancel':
        Object.assign(job, {
          status: 'cancelled',
          waiting: null,
          paused: false,
          completedAt: currentTime(),
        });
        break;
      case 'pause':
      case 'resume':
        job.paused = action.action === 'pause';
        break;
      case 'move-to':
        job.queue = action.queue;
        job.delivery = engine.remote.deliveryOf(job);
        break;
      case 'mark-reviewed':
        engine.reviewed.set(job.jobId, { cause: job.cause, error: job.error });
        Object.assign(job, { status: 'completed', reviewed: true, cause: null, error: null });
        break;
      case 'unmark-reviewed':
        Object.assign(job, { status: 'needs-review', reviewed: false, ...engine.reviewed.get(job.jobId) });
        break;
    }
  }
  if (action.action === 'purge') engine.remove(able);
  engine.changed(able.map((job) => job.jobId));
  return { jobs: able.length, unchanged: jobs.length - able.length };
}

/** Moves jobs in the line of their lane; those of other lanes than the first one's stay. */
export function moveJobs(engine: PlayedEngine, jobIds: JobId[], place: Place): number {
  const wanted = new Set(jobIds);
  const first = engine.jobs.find((job) => wanted.has(job.jobId) && job.status === 'pending');
  if (!first) return 0;
  if (place.place === 'up' || place.place === 'down')
    return moveJob(engine, first.jobId, place.place) ? 1 : 0;
  const line = engine.line(first.queue);
  const moved = line.filter((job) => wanted.has(job.jobId));
  const others = line.filter((job) => !wanted.has(job.jobId));
  const beside = 'jobId' in place ? others.findIndex((job) => job.jobId === place.jobId) : -1;
  if ('jobId' in place && beside === -1) return 0;
  const at = { top: 0, bottom: others.length, before: beside, after: beside + 1 }[place.place];
  [...others.slice(0, at), ...moved, ...others.slice(at)].forEach((job, index) => (job.place = index));
  engine.changed(moved.map((job) => job.jobId));
  return moved.length;
}

function moveJob(engine: PlayedEngine, jobId: JobId, place: 'up' | 'down'): boolean {
  const job = engine.jobs.find((each) => each.jobId === jobId);
  if (job?.status !== 'pending') return false;
  const line = engine.line(job.queue);
  const at = line.indexOf(job);
  const other = line[place === 'up' ? at - 1 : at + 1];
  if (!other) return false;
  [job.place, other.place] = [other.place, job.place];
  engine.changed([jobId]);
  return true;
}

export function deadLetters(engine: PlayedEngine): DeadLetterGroup[] {
  const groups = new Map<Cause, DeadLetterGroup>();
  for (const job of engine.matching({ ...EVERY_JOB, shown: 'dead-letters' }).reverse()) {
    const cause = job.cause ?? 'unexpected-status';
    let group = groups.get(cause);
    if (!group) {
      const { hint } = causesEn[cause];
      group = { cause, jobs: 0, message: job.error ?? '', hint, fix: fixOf(cause), titles: [] };
      groups.set(cause, group);
    }
    group.jobs += 1;
    if (group.titles.length < 3) group.titles.push(job.title);
  }
  return [...groups.values()].sort((one, other) => other.jobs - one.jobs);
}
