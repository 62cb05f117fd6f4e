/**
 * The scripted engine of demo builds: `npm run dev` without Rust, flow tests, pictures.
 *
 * Switches in the address: `?jobs=N`, `?empty`, `?welcome`, `?freeze`, `?lang=`, `?theme=`, `?key=none|session|
 * environment|no-keychain`, `?circuit=CAUSE`, `?paused=high,bulk`, `?consumer=elsewhere|nowhere`, `?slow=MS`,
 * `?fail=METHOD:CODE,…`, `?hold=scan|walk`, `?model=claude-gone` (one the key may not use), `?dayCap=DOLLARS`,
 * `?hours=22-7` (when Bulk runs), `?storage` (the disk is full), `?webhook=ok|failing`, `?bucket=ok|waiting|failed`,
 * `?parts` (long documents among the jobs), `?baseUrl=ADDRESS`, `?endpoint=KIND`, `?headers=NAME,…`, `?ca`, `?textOnly`,
 * `?dead=CAUSE,…` (dead letters of these causes, too), `?hold=count`, `?halfPrice` (a batch with the batch API),
 * `?handed=PATH,…` (opened with the program), `?batchLane` (all of Bulk goes that way), `?batchCap=DOLLARS`, `?pilot=running|ended|failed` (of the newest batch).
 */
import { freezeClock } from '../../app/clock.svelte';
import type { Backend, DragEvent } from '../backend';
import type { Cause } from '../types/Cause';
import type { ConsumerPlace } from '../types/ConsumerPlace';
import type { EngineEvent } from '../types/EngineEvent';
import type { Language } from '../types/Language';
import type { KeyStatus } from '../types/KeyStatus';
import type { Problem } from '../types/Problem';
import type { ProblemCode } from '../types/ProblemCode';
import type { QueueName } from '../types/QueueName';
import type { ScanReport } from '../types/ScanReport';
import type { WebhookStatus } from '../types/WebhookStatus';
import { PlayedEngine } from './engine';
import { bucketCommands } from './bucket';
import { detailOf } from './details';
import { endpointCommands } from './endpoint';
import { MODEL } from './fixtures';
import { overviewOf } from './overview';
import { reportOf } from './reports';
import { pageDrawing } from './documents';
import { playParts } from './parts';
import { forecastOfJobs, forecastOfPlan } from './pilots';
import { PlayedCounts } from './counts';
import { countable, isReusable, planOf, scanReport, unlocked } from './scans';
import { PlayedDocuments, type PlayedTrouble } from './readings';
import * as selections from './selections';
import { playedSettings } from './settings';
import { templateCommands } from './templates';
import { currentTime } from '../../app/clock.svelte';
import { speak } from '../../text/text.svelte';

/** Answers a command like the real engine: later, as a copy, or with a problem. */
export type Answer = <T>(method: string, make: () => T) => Promise<T>;

/** What a test may do from outside. */
export interface MockHandle {
  drag(event: DragEvent): void;
  emit(event: EngineEvent): void;
  /** Switches the language as the settings do. */
  speak(language: Language): void;
  /** Files, folders and addresses that would have been opened. */
  opened: string[];
}

declare global {
  interface Window {
    gistmillMock?: MockHandle;
  }
}

const FROZEN_AT = new Date(2026, 1, 12, 18, 42, 0).getTime();

function keyStatus(kind: string | null): KeyStatus {
  const keychainProblem = 'No secret service answers on the session bus.';
  switch (kind) {
    case 'none':
      return { source: 'none', ending: null, keychainProblem: null };
    case 'no-keychain':
      return { source: 'none', ending: null, keychainProblem };
    case 'session':
      return { source: 'session', ending: '7Q2f', keychainProblem };
    case 'environment':
      return { source: 'environment', ending: '7Q2f', keychainProblem: null };
    default:
      return { source: 'keychain', ending: '7Q2f', keychainProblem: null };
  }
}

function problem(code: ProblemCode, message: string, hint: string): Problem {
  return { code, message, hint };
}

export function createBackend(query: URLSearchParams): Backend {
  if (query.has('freeze')) freezeClock(FROZEN_AT);
  const cause = query.get('circuit') as Cause | null;
  const engine = new PlayedEngine({
    size: query.has('empty') || query.has('welcome') ? 0 : Number(query.get('jobs') ?? 798),
    key: keyStatus(query.get('key') ?? (query.has('welcome') ? 'none' : null)),
    consumer: (query.get('consumer') ?? 'here') as ConsumerPlace,
    paused: (query.get('paused')?.split(',') ?? []) as QueueName[],
    circuit: cause && {
      provider: 'claude',
      cause,
      message: 'invalid x-api-key',
      hint: 'Test the key in Settings, or paste a new one.',
      fix: selections.fixOf(cause),
      model: query.get('model') ?? MODEL,
      openedAt: currentTime() - 180_000,
      probeAt: cause === 'offline' ? currentTime() + 20_000 : null,
      waiting: 0,
    },
    settings: playedSettings(query),
    bucket: query.get('bucket'),
    headers: query.get('headers'),
    dead: query.get('dead')?.split(',') as Cause[] | undefined,
    storageProblem: query.has('storage')
      ? problem(
          'storage',
          'The disk is full: nothing can be saved.',
          'Free disk space; jobs go on by themselves.',
        )
      : null,
  });
  const documents = new PlayedDocuments(engine, query.get('pdf') as PlayedTrouble);
  if (query.has('parts')) playParts(engine.jobs);
  if (query.has('pilot')) engine.pilots.play(query.get('pilot') ?? '');
  if (query.has('halfPrice') || query.has('batchLane')) engine.remote.play();
  if (query.has('batchLane')) {
    engine.lanes.bulk.delivery = 'batch';
    engine.remote.deliver('batch');
  }
  if (!query.has('freeze')) engine.run();

  const webhook: WebhookStatus = {
    secretSet: false,
    waiting: query.get('webhook') === 'failing' ? 3 : 0,
    lastAt: query.has('webhook') ? currentTime() - 640_000 : null,
    lastError: query.get('webhook') === 'failing' ? 'The address answered 503.' : null,
  };

  const slow = Number(query.get('slow') ?? 0);
  const failures = new Map(
    (query.get('fail')?.split(',') ?? []).map((each) => each.split(':') as [string, ProblemCode]),
  );
  /** Answers like the real engine: later, as a copy, or with the problem that the address asks for. */
  async function answer<T>(method: string, make: () => T): Promise<T> {
    if (slow > 0) await new Promise((resolve) => setTimeout(resolve, slow));
    const code = failures.get(method);
    if (code) {
      throw problem(
        code,
        'The results folder can’t be written: no space is left.',
        'Free disk space, then try again.',
      );
    }
    return structuredClone(make());
  }

  const dragListeners = new Set<(event: DragEvent) => void>();
  const opened: string[] = [];
  const handle: MockHandle = {
    drag: (event) => dragListeners.forEach((listener) => listener(event)),
    emit: (event) => engine.emit(event),
    speak,
    opened,
  };
  window.gistmillMock = handle;
  listenToBrowserDrags(handle);

  const reports = new Map<number, ScanReport>();
  function scanOf(scanId: number): ScanReport {
    const report = reports.get(scanId);
    if (!report) throw problem('not-found', 'This scan does not exist any more.', 'Add the files again.');
    return report;
  }

  const counts = new PlayedCounts(engine, query.get('hold') === 'count');

  let endScan: ((reason: Problem) => void) | null = null;

  function scan(paths: string[]): Promise<ScanReport> {
    const many = paths.some((path) => path.includes('archive')) ? 10_000 : 134;
    const all = paths.length === 1 && paths[0]?.endsWith('.pdf') ? 1 : many;
    return new Promise((resolve, reject) => {
      let inspected = 0;
      let found = Math.ceil(all / 3);
      const finish = (end: () => void): void => {
        clearInterval(timer);
        endScan = null;
        end();
      };
      const step = (): void => {
        const hold = ['scan', 'walk'].includes(query.get('hold') ?? '');
        inspected = Math.min(inspected + (hold ? 41 : Math.ceil(all / 5)), hold ? 82 : found);
        found = query.get('hold') === 'walk' ? 1_240 : all;
        const walking = query.get('hold') === 'walk' || inspected === 0;
        engine.emit({
          event: 'scan-progress',
          inspected,
          found,
          problems: Math.floor(inspected / 31),
          walking,
        });
        if (inspected < all) return;
        const report = scanReport(reports.size + 1, paths, engine.prices.of(engine.settings.model) ?? null);
        reports.set(report.scanId, report);
        finish(() => resolve(report));
      };
      const timer = setInterval(step, 120);
      endScan = (reason) => finish(() => reject(reason));
    });
  }

  return {
    overview: () => answer('overview', () => overviewOf(engine)),
    jobs: (filter, after, limit) => answer('jobs', () => engine.page(filter, after, limit)),
    jobRows: (filter, order, offset, limit) =>
      answer('jobRows', () => engine.rows(filter, order, offset, limit)),
    jobIds: (filter, order, offset, limit) =>
      answer('jobIds', () =>
        engine
          .ordered(filter, order)
          .slice(offset, offset + limit)
          .map((job) => job.jobId),
      ),
    job: (jobId) =>
      answer('job', () => {
        const found = engine.find(jobId);
        if (!found) throw problem('not-found', 'This job does not exist.', '');
        return detailOf(found.job, found.prompt, currentTime(), {
          settings: engine.settings,
          uploads: engine.uploads,
          remote: engine.remote.viewOf(found.job),
          older: engine.older.get(jobId) ?? [],
          source: engine.jobs.find((job) => job.status === 'completed')?.jobId ?? jobId,
        });
      }),
    ...templateCommands(engine.templates, answer),
    ...bucketCommands(engine, answer),
    about: () =>
      answer('about', () => {
        const results = engine.jobs.filter((job) =>
          ['completed', 'needs-review'].includes(job.status),
        ).length;
        return {
          version: '1.0.0',
          sqliteVersion: '3.53.2',
          system: 'linux x86_64',
          dataDirectory: '/home/mika/.local/share/gistmill',
          databaseBytes: 42_000_000,
          results,
          resultsBytes: results * 6_400,
        };
      }),
    settings: () => answer('settings', () => engine.settings),
    saveSettings: (next) =>
      answer('saveSettings', () => {
        engine.set(() => {
          const moved = engine.settings.model !== next.model;
          engine.settings = next;
          // Jobs that wait for want of a model are given the new one.
          if (moved && engine.circuit?.fix === 'choose-model') engine.circuit = null;
        });
        return engine.settings;
      }),
    scan: (paths) => answer('scan', () => null).then(() => scan(paths)),
    cancelScan: () =>
      answer('cancelScan', () => endScan?.(problem('conflict', 'The scan was cancelled.', ''))).then(
        () => undefined,
      ),
    planSubmission: (scanId, submission) =>
      answer('planSubmission', () => {
        const model = submission.model ?? engine.settings.model;
        return planOf(scanOf(scanId), submission, engine.prices.of(model) ?? null, counts.of(scanId), model);
      }),
    unlockScan: (scanId, password) =>
      answer('unlockScan', () => {
        const price = engine.prices.of(engine.settings.model) ?? null;
        const report = unlocked(scanOf(scanId), password, price);
        reports.set(scanId, report);
        return report;
      }),
    forecastSubmission: (scanId, submission) =>
      answer('forecastSubmission', () => {
        const model = submission.model ?? engine.settings.model;
        const price = engine.prices.of(model) ?? null;
        const plan = planOf(scanOf(scanId), submission, price, counts.of(scanId), model);
        return forecastOfPlan(plan, submission, engine);
      }),
    countTokens: (scanId, submission) =>
      answer('countTokens', () => countable(scanOf(scanId), submission)).then((files) =>
        counts.begin(scanId, files),
      ),
    cancelCounting: () => answer('cancelCounting', () => counts.end()),
    submitScan: (scanId, submission) =>
      answer('submitScan', () => {
        const files = reports.get(scanId)?.files.filter((file) => file.document.finding === null) ?? [];
        return engine.submit(
          files.map((file) => ({
            title: file.name,
            path: file.path,
            pages: file.document.pages,
            reused: isReusable(file, submission),
          })),
          submission,
        );
      }),
    submitPrompt: (prompt, submission) =>
      answer('submitPrompt', () =>
        engine.submit([{ title: prompt.slice(0, 80), path: null, pages: null }], submission, prompt),
      ),
    planRetry: (selection, changes) =>
      answer('planRetry', () => selections.planRetry(engine, selection, changes)),
    forecastRetry: (selection, changes) =>
      answer('forecastRetry', () => forecastOfJobs(selections.selected(engine, selection), changes, engine)),
    retry: (selection, changes) => answer('retry', () => selections.retry(engine, selection, changes)),
    unlockJobs: (selection, password) =>
      answer('unlockJobs', () => selections.unlockJobs(engine, selection, password)),
    pagePicture: (jobId) =>
      answer('pagePicture', () => {
        const job = engine.jobs.find((each) => each.jobId === jobId);
        const drawn = job?.kind === 'pdf' && !selections.isUnreadable(job);
        return drawn ? pageDrawing(job.number) : null;
      }),
    reading: (jobId) => answer('reading', () => documents.reading(jobId)),
    openDocument: (jobId) => answer('openDocument', () => documents.openDocument(jobId)),
    documentBytes: (jobId, offset, length) =>
      answer('documentBytes', () => documents.documentBytes(jobId, offset, length)),
    closeDocument: (jobId) => answer('closeDocument', () => documents.closeDocument(jobId)),
    planAction: (selection, action) =>
      answer('planAction', () => selections.planAction(engine, selection, action)),
    applyAction: (selection, action) =>
      answer('applyAction', () => selections.applyAction(engine, selection, action)),
    moveJobs: (jobIds, place) => answer('moveJobs', () => selections.moveJobs(engine, jobIds, place)),
    deadLetters: () => answer('deadLetters', () => selections.deadLetters(engine)),
    exportJobs: (request, name) =>
      answer('exportJobs', () => {
        const jobs = selections.selected(engine, request.selection);
        const results = jobs.filter((job) => ['completed', 'needs-review'].includes(job.status)).length;
        const ending = request.format === 'markdown' ? 'md' : request.format;
        const path = `/home/mika/Documents/${name}.${ending}`;
        return { path, jobs: jobs.length, results, unreadable: 0, bytes: jobs.length * 1_900 };
      }),
    batchReport: (batchId) =>
      answer('batchReport', () => {
        const report = reportOf(engine, batchId);
        if (!report) throw problem('not-found', 'This batch does not exist any more.', '');
        return report;
      }),
    pauseBatch: (batchId, paused) =>
      answer('pauseBatch', () =>
        engine.set(() => {
          if (paused) engine.pausedBatches.add(batchId);
          else engine.pausedBatches.delete(batchId);
        }),
      ),
    setBatchCap: (batchId, capMicros) =>
      answer('setBatchCap', () => engine.set(() => engine.batchCaps.set(batchId, capMicros))),
    pilot: (batchId, changes) =>
      answer('pilot', () => {
        const report = engine.pilots.report(batchId, changes);
        if (!report) throw problem('bad-input', 'This batch has no pilot.', 'Add files with a pilot.');
        return report;
      }),
    releasePilot: (batchId, changes) => answer('releasePilot', () => engine.pilots.release(batchId, changes)),
    cancelBehindPilot: (batchId) => answer('cancelBehindPilot', () => engine.pilots.cancel(batchId)),
    pauseLane: (queue, paused) =>
      answer('pauseLane', () =>
        engine.set(() => {
          if (paused) engine.pausedLanes.add(queue);
          else engine.pausedLanes.delete(queue);
        }),
      ),
    saveLane: (queue, settings) =>
      answer('saveLane', () =>
        engine.set(() => {
          const { delivery } = engine.lanes[queue];
          engine.lanes[queue] = settings;
          if (delivery !== settings.delivery) engine.remote.deliver(settings.delivery);
        }),
      ),
    closeCircuit: () => answer('closeCircuit', () => engine.set(() => (engine.circuit = null))),
    prices: () => answer('prices', () => engine.prices.table()),
    savePrice: (price) =>
      answer('savePrice', () => {
        engine.set(() => engine.prices.save(price));
        return engine.prices.table();
      }),
    removePrice: (model) =>
      answer('removePrice', () => {
        engine.set(() => engine.prices.remove(model));
        return engine.prices.table();
      }),
    webhookStatus: () => answer('webhookStatus', () => webhook),
    saveWebhookSecret: (secret) =>
      answer('saveWebhookSecret', () => {
        webhook.secretSet = secret !== null;
        return webhook;
      }),
    saveKey: (key, sessionOnly) =>
      answer('saveKey', () => {
        if (engine.key.keychainProblem !== null && !sessionOnly) {
          throw problem(
            'keychain-unavailable',
            'The system keychain can’t be used.',
            'Keep the key for this session only.',
          );
        }
        engine.key = { ...engine.key, source: sessionOnly ? 'session' : 'keychain', ending: key.slice(-4) };
        engine.emit({ event: 'overview-changed' });
        return engine.key;
      }),
    removeKey: () =>
      answer('removeKey', () => {
        engine.key = { ...engine.key, source: 'none', ending: null };
        engine.emit({ event: 'overview-changed' });
        return engine.key;
      }),
    ...endpointCommands(engine, answer),
    chooseFiles: () =>
      answer('chooseFiles', () => [
        '/home/mika/Papers/黒ボク土_調査報告.pdf',
        '/home/mika/Papers/field-notes.pdf',
      ]),
    chooseFolder: () => answer('chooseFolder', () => ['/home/mika/Documents/Grid reliability reports']),
    openPath: (path) => answer('openPath', () => void opened.push(path)),
    revealPath: (path) => answer('revealPath', () => void opened.push(path)),
    openUrl: (url) => answer('openUrl', () => void opened.push(url)),
    onEvent: (listener) => {
      const end = engine.listen(listener);
      if (query.has('freeze')) engine.announceProgress();
      return end;
    },
    onHanded: (listener) => {
      const handed = query.get('handed')?.split(',') ?? [];
      if (handed.length > 0) listener(handed);
      return () => undefined;
    },
    onDrag: (listener) => {
      dragListeners.add(listener);
      return () => dragListeners.delete(listener);
    },
  };
}

/** Lets `npm run dev` in a browser take real drags; a browser hides the folder, so names stand for paths. */
function listenToBrowserDrags(handle: MockHandle): void {
  let over = false;
  const paths = (event: globalThis.DragEvent): string[] =>
    [...(event.dataTransfer?.files ?? [])].map((file) => `/dropped/${file.name}`);
  window.addEventListener('dragover', (event) => {
    event.preventDefault();
    const at = { x: event.clientX, y: event.clientY };
    handle.drag(over ? { type: 'over', ...at } : { type: 'enter', paths: ['/dropped/folder'], ...at });
    over = true;
  });
  window.addEventListener('dragleave', (event) => {
    if (event.relatedTarget !== null) return;
    over = false;
    handle.drag({ type: 'leave' });
  });
  window.addEventListener('drop', (event) => {
    event.preventDefault();
    over = false;
    handle.drag({ type: 'drop', paths: paths(event), x: event.clientX, y: event.clientY });
  });
}
