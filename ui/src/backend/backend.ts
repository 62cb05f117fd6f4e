/**
 * The one door between the window and the engine.
 *
 * Every method is one command of the engine and rejects with a `Problem`; nothing here knows whether the engine
 * lives in the desktop shell (`tauri.ts`) or is played by a script (`mock/`).
 */
import type { BatchId } from './types/BatchId';
import type { EngineEvent } from './types/EngineEvent';
import type { JobDetail } from './types/JobDetail';
import type { JobFilter } from './types/JobFilter';
import type { JobId } from './types/JobId';
import type { JobPage } from './types/JobPage';
import type { KeyStatus } from './types/KeyStatus';
import type { KeyTest } from './types/KeyTest';
import type { Overview } from './types/Overview';
import type { Problem } from './types/Problem';
import type { Provider } from './types/Provider';
import type { QueueName } from './types/QueueName';
import type { ScanId } from './types/ScanId';
import type { ScanReport } from './types/ScanReport';
import type { Settings } from './types/Settings';
import type { Submission } from './types/Submission';
import type { Submitted } from './types/Submitted';
import type { TemplateView } from './types/TemplateView';

/** Files dragged over the window. Positions are CSS pixels from the window's upper left corner. */
export type DragEvent =
  | { type: 'enter'; paths: string[]; x: number; y: number }
  | { type: 'over'; x: number; y: number }
  | { type: 'drop'; paths: string[]; x: number; y: number }
  | { type: 'leave' };

/** Ends a subscription. */
export type Unsubscribe = () => void;

export interface Backend {
  /** Everything around the list, read in one snapshot. */
  overview(): Promise<Overview>;
  /** A page of the list, newest job first; `after` is the `next` of the page before, `null` for the first. */
  jobs(filter: JobFilter, after: number | null, limit: number): Promise<JobPage>;
  /** One job with its attempts and its newest result. */
  job(jobId: JobId): Promise<JobDetail>;
  /** The newest version of every template. */
  templates(): Promise<TemplateView[]>;
  settings(): Promise<Settings>;
  /** Stores the settings and answers what is stored. */
  saveSettings(settings: Settings): Promise<Settings>;

  /** Walks files and folders and inspects every PDF; announces `scan-progress` meanwhile. */
  scan(paths: string[]): Promise<ScanReport>;
  /** Ends the scan under way; its promise rejects. */
  cancelScan(): Promise<void>;
  /** Makes a job of every scanned file without a finding. */
  submitScan(scanId: ScanId, submission: Submission): Promise<Submitted>;
  /** Makes one job of a prompt. */
  submitPrompt(prompt: string, submission: Submission): Promise<Submitted>;

  /** Puts ended jobs back in their queue, with attempts from 1; answers how many. */
  retry(jobIds: JobId[]): Promise<number>;
  /** The same for all that match. */
  retryMatching(filter: JobFilter): Promise<number>;
  /** Delivers waiting jobs at once, skipping delay and countdown; answers how many. */
  runNow(jobIds: JobId[]): Promise<number>;
  /** Calls jobs off; a running call that would be paid anyway may finish. Answers how many. */
  cancelJobs(jobIds: JobId[]): Promise<number>;
  pauseLane(queue: QueueName, paused: boolean): Promise<void>;
  /** Calls the provider again after something stopped all its jobs. */
  closeCircuit(provider: Provider): Promise<void>;

  /** Keeps the key in the keychain, or in memory only. The key never comes back. */
  saveKey(key: string, sessionOnly: boolean): Promise<KeyStatus>;
  removeKey(): Promise<KeyStatus>;
  /** One free call that shows what the key may do. */
  testKey(): Promise<KeyTest>;

  /** The system's file dialog for PDFs; empty when the person closed it. */
  chooseFiles(): Promise<string[]>;
  /** The system's folder dialog; empty when the person closed it. */
  chooseFolder(): Promise<string[]>;
  /** Opens a file in its usual program. */
  openPath(path: string): Promise<void>;
  /** Shows a file in the file manager. */
  revealPath(path: string): Promise<void>;
  /** Opens an address in the browser. Ask the person first when a document named it. */
  openUrl(url: string): Promise<void>;

  onEvent(listener: (event: EngineEvent) => void): Unsubscribe;
  onDrag(listener: (event: DragEvent) => void): Unsubscribe;
}

/** Makes a `Problem` of whatever a command rejected with. */
export function toProblem(reason: unknown): Problem {
  if (typeof reason === 'object' && reason !== null && 'code' in reason && 'message' in reason) {
    const problem = reason as Problem;
    return { code: problem.code, message: String(problem.message), hint: String(problem.hint ?? '') };
  }
  return { code: 'internal', message: reason instanceof Error ? reason.message : String(reason), hint: '' };
}

/** The filter that matches every job. */
export const EVERY_JOB: JobFilter = { shown: 'all', queue: null, batchId: null, text: null };

export type { BatchId, JobFilter, JobId };
