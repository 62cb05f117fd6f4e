/**
 * The one door between the window and the engine.
 *
 * Every method is one command of the engine and rejects with a `Problem`; nothing here knows whether the engine
 * lives in the desktop shell (`tauri.ts`) or is played by a script (`mock/`).
 */
import type { About } from './types/About';
import type { Affected } from './types/Affected';
import type { BatchId } from './types/BatchId';
import type { BatchReport } from './types/BatchReport';
import type { BucketAddress } from './types/BucketAddress';
import type { BucketSettings } from './types/BucketSettings';
import type { BucketStatus } from './types/BucketStatus';
import type { BucketTest } from './types/BucketTest';
import type { BulkAction } from './types/BulkAction';
import type { DeadLetterGroup } from './types/DeadLetterGroup';
import type { DocumentFile } from './types/DocumentFile';
import type { EndpointKind } from './types/EndpointKind';
import type { EndpointView } from './types/EndpointView';
import type { EngineEvent } from './types/EngineEvent';
import type { ExportRequest } from './types/ExportRequest';
import type { Exported } from './types/Exported';
import type { Forecast } from './types/Forecast';
import type { JobDetail } from './types/JobDetail';
import type { JobFilter } from './types/JobFilter';
import type { JobId } from './types/JobId';
import type { JobOrder } from './types/JobOrder';
import type { JobPage } from './types/JobPage';
import type { JobRows } from './types/JobRows';
import type { KeyStatus } from './types/KeyStatus';
import type { KeyTest } from './types/KeyTest';
import type { LaneSettings } from './types/LaneSettings';
import type { ModelPrice } from './types/ModelPrice';
import type { ModelProfile } from './types/ModelProfile';
import type { Overview } from './types/Overview';
import type { PilotReport } from './types/PilotReport';
import type { Place } from './types/Place';
import type { PriceTable } from './types/PriceTable';
import type { Problem } from './types/Problem';
import type { Provider } from './types/Provider';
import type { QueueName } from './types/QueueName';
import type { Reading } from './types/Reading';
import type { RetryChanges } from './types/RetryChanges';
import type { RetryPlan } from './types/RetryPlan';
import type { ScanId } from './types/ScanId';
import type { ScanReport } from './types/ScanReport';
import type { Selection } from './types/Selection';
import type { Settings } from './types/Settings';
import type { Submission } from './types/Submission';
import type { SubmissionPlan } from './types/SubmissionPlan';
import type { Submitted } from './types/Submitted';
import type { TemplateDraft } from './types/TemplateDraft';
import type { TemplatePreview } from './types/TemplatePreview';
import type { TemplateView } from './types/TemplateView';
import type { TokenCounting } from './types/TokenCounting';
import type { WebhookStatus } from './types/WebhookStatus';

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
  /** Rows of the list in an order, from a place of it on: for a list whose bar may be dragged anywhere. */
  jobRows(filter: JobFilter, order: JobOrder, offset: number, limit: number): Promise<JobRows>;
  /** The ids of such rows, for a selection that reaches over more than is shown. */
  jobIds(filter: JobFilter, order: JobOrder, offset: number, limit: number): Promise<JobId[]>;
  /** One job with its attempts and its newest result. */
  job(jobId: JobId): Promise<JobDetail>;
  /** The newest version of every template. */
  templates(): Promise<TemplateView[]>;
  createTemplate(draft: TemplateDraft): Promise<TemplateView>;
  /** Makes a new version; jobs that were asked with an earlier one keep theirs. */
  editTemplate(templateId: string, draft: TemplateDraft): Promise<TemplateView>;
  duplicateTemplate(template: string): Promise<TemplateView>;
  removeTemplate(templateId: string): Promise<void>;
  /** What a draft comes to, and what keeps it from being saved. Changes nothing. */
  previewTemplate(draft: TemplateDraft, variables: Record<string, string>): Promise<TemplatePreview>;
  /** Reads a template from a file that the person chooses; `null` when they chose none. */
  importTemplate(): Promise<TemplateView | null>;
  /** Writes a template to a file that the person names, and answers where; `null` when they named none. */
  exportTemplate(template: string): Promise<string | null>;
  /** Versions, the data folder and what it takes on the disk. */
  about(): Promise<About>;
  settings(): Promise<Settings>;
  /** Stores the settings and answers what is stored. */
  saveSettings(settings: Settings): Promise<Settings>;

  /** Walks files and folders and inspects every PDF; announces `scan-progress` meanwhile. */
  scan(paths: string[]): Promise<ScanReport>;
  /** Ends the scan under way; its promise rejects. */
  cancelScan(): Promise<void>;
  /** What submitting would come to. Changes nothing. */
  planSubmission(scanId: ScanId, submission: Submission): Promise<SubmissionPlan>;
  /**
   * Tries a password on the files of a scan that need one, and inspects those that it opens anew. It rejects where it
   * opens none; it is kept in memory only.
   */
  unlockScan(scanId: ScanId, password: string): Promise<ScanReport>;
  /** Tokens, price and time of each way that the jobs may go, and what fits under the caps. Changes nothing. */
  forecastSubmission(scanId: ScanId, submission: Submission): Promise<Forecast>;
  /**
   * Lets the provider count the files that are worth the upload, which is free; announces `count-progress`, and plans
   * and forecasts use what is counted. Ends with the scan, with another call, or when it is cancelled.
   */
  countTokens(scanId: ScanId, submission: Submission): Promise<TokenCounting>;
  cancelCounting(): Promise<void>;
  /** Makes a job of every scanned file without a finding. */
  submitScan(scanId: ScanId, submission: Submission): Promise<Submitted>;
  /** Makes one job of a prompt. */
  submitPrompt(prompt: string, submission: Submission): Promise<Submitted>;

  /** What putting ended jobs back in their queue would do and cost. Changes nothing. */
  planRetry(selection: Selection, changes: RetryChanges): Promise<RetryPlan>;
  /** Tokens, price and time of putting ended jobs back in their queue. Changes nothing. */
  forecastRetry(selection: Selection, changes: RetryChanges): Promise<Forecast>;
  /** Puts ended jobs back in their queue, with attempts from 1. */
  retry(selection: Selection, changes: RetryChanges): Promise<Affected>;
  /** Puts jobs back that failed for want of a password, where this one opens their file. It is kept in memory only. */
  unlockJobs(selection: Selection, password: string): Promise<Affected>;
  /** A page of a job's PDF, from 1, as the address of a picture; `null` where there is none to show. */
  pagePicture(jobId: JobId, page: number): Promise<string | null>;
  /** What a reader is shown beside a job's result: pages it names, its quotes, and whether its PDF says so. */
  reading(jobId: JobId): Promise<Reading>;
  /** Makes a job's PDF ready to be read in pieces; rejects where it can't be shown. */
  openDocument(jobId: JobId): Promise<DocumentFile>;
  /** A piece of it, 1 MiB at most; less at its end. */
  documentBytes(jobId: JobId, offset: number, length: number): Promise<ArrayBuffer>;
  /** Ends the reading, and removes the copy that was lent for it. */
  closeDocument(jobId: JobId): Promise<void>;
  /** How many jobs an action would change. Changes nothing. */
  planAction(selection: Selection, action: BulkAction): Promise<Affected>;
  /** Does it. A running call that would be paid anyway may finish after its job was called off. */
  applyAction(selection: Selection, action: BulkAction): Promise<Affected>;
  /** Moves waiting jobs in their lane, in their order among them; answers how many moved. */
  moveJobs(jobIds: JobId[], place: Place): Promise<number>;
  /** Dead letters by cause, the largest group first. */
  deadLetters(): Promise<DeadLetterGroup[]>;
  /** Writes jobs to a file that the person names; `name` is proposed, without its ending. `null` when they named none. */
  exportJobs(request: ExportRequest, name: string): Promise<Exported | null>;
  /** What became of a batch, and what to do next. */
  batchReport(batchId: BatchId): Promise<BatchReport>;
  pauseBatch(batchId: BatchId, paused: boolean): Promise<void>;
  /** Sets what a batch may cost at most; `null` for no cap. */
  setBatchCap(batchId: BatchId, capMicros: number | null): Promise<void>;
  /** What the pilot of a batch came to, and what the jobs that wait for it will come to with changes. */
  pilot(batchId: BatchId, changes: RetryChanges): Promise<PilotReport>;
  /** Lets the jobs go on that wait for the pilot of a batch, asked as the changes say. */
  releasePilot(batchId: BatchId, changes: RetryChanges): Promise<Affected>;
  /** Calls off the jobs that wait for the pilot of a batch. */
  cancelBehindPilot(batchId: BatchId): Promise<Affected>;
  pauseLane(queue: QueueName, paused: boolean): Promise<void>;
  /** Sets how a lane is served; holds from the next claim on. */
  saveLane(queue: QueueName, settings: LaneSettings): Promise<void>;
  /** Calls the provider again after something stopped all its jobs. */
  closeCircuit(provider: Provider): Promise<void>;

  prices(): Promise<PriceTable>;
  /** Sets a model's price in place of the shipped one; all zero marks the model as free. */
  savePrice(price: ModelPrice): Promise<PriceTable>;
  /** Goes back to the shipped price, or to none where none is shipped. */
  removePrice(model: string): Promise<PriceTable>;
  webhookStatus(): Promise<WebhookStatus>;
  /** Sets the secret that messages are signed with; `null` removes it. It never comes back. */
  saveWebhookSecret(secret: string | null): Promise<WebhookStatus>;

  bucketStatus(): Promise<BucketStatus>;
  /** Keeps the secret of the bucket's key, in the keychain or in memory; `null` removes it. It never comes back. */
  saveBucketSecret(secret: string | null, sessionOnly: boolean): Promise<BucketStatus>;
  /** Writes, reads and deletes an object in a bucket that need not be saved; without a secret it takes the kept one. */
  testBucket(bucket: BucketSettings, secret: string | null): Promise<BucketTest>;
  /** What a pasted address or account id says of a bucket; rejects where it says nothing. */
  readBucketAddress(text: string): Promise<BucketAddress>;
  /** Queues the uploads of results that are not in the bucket; answers how many. */
  uploadMissing(): Promise<number>;
  /** Tries uploads again that were given up; answers how many. */
  retryUploads(): Promise<number>;
  /** Tries copies again that could not be made; answers how many. */
  retryCopies(selection: Selection): Promise<number>;

  /** Keeps the key in the keychain, or in memory only. The key never comes back. */
  saveKey(key: string, sessionOnly: boolean): Promise<KeyStatus>;
  removeKey(): Promise<KeyStatus>;
  /** One free call that shows what the key may do. */
  testKey(): Promise<KeyTest>;

  /** Where Claude is asked, and what can be expected there. */
  endpoint(): Promise<EndpointView>;
  /** Asks at another endpoint from now on: at its usual address where none is given, with the same model likewise. */
  useEndpoint(kind: EndpointKind, address: string | null, model: string | null): Promise<EndpointView>;
  /** Keeps extra headers, one a line; nothing removes them. Their values never come back. */
  saveHeaders(text: string, sessionOnly: boolean): Promise<EndpointView>;
  /** What the address told of its models when it was asked last. */
  modelsTold(): Promise<ModelProfile[]>;
  /** What is known of models at this address, one for each name. */
  modelProfiles(models: string[]): Promise<ModelProfile[]>;

  /** The system's file dialog for PDFs; empty when the person closed it. */
  chooseFiles(): Promise<string[]>;
  /** The system's folder dialog; empty when the person closed it. */
  chooseFolder(): Promise<string[]>;
  /** The system's file dialog for one file of certificates; empty when the person closed it. */
  chooseCertificates(): Promise<string[]>;
  /** Opens a file in its usual program. */
  openPath(path: string): Promise<void>;
  /** Shows a file in the file manager. */
  revealPath(path: string): Promise<void>;
  /** Opens an address in the browser. Ask the person first when a document named it. */
  openUrl(url: string): Promise<void>;

  onEvent(listener: (event: EngineEvent) => void): Unsubscribe;
  onDrag(listener: (event: DragEvent) => void): Unsubscribe;
  /** Files and folders that the system hands over: dropped on the program's icon, or opened with it. */
  onHanded(listener: (paths: string[]) => void): Unsubscribe;
}

/** Makes a `Problem` of whatever a command rejected with. */
export function toProblem(reason: unknown): Problem {
  if (typeof reason === 'object' && reason !== null && 'code' in reason && 'message' in reason) {
    const problem = reason as Problem;
    return { code: problem.code, message: String(problem.message), hint: String(problem.hint ?? '') };
  }
  return { code: 'internal', message: reason instanceof Error ? reason.message : String(reason), hint: '' };
}

/** Runs a job again as it was. */
export const NO_CHANGES: RetryChanges = {
  provider: null,
  model: null,
  template: null,
  queue: null,
  delivery: null,
  maxTokens: null,
  completed: false,
};

/** The filter that matches every job. */
export const EVERY_JOB: JobFilter = {
  shown: 'all',
  queue: null,
  batchId: null,
  cause: null,
  text: null,
  template: null,
  provider: null,
  model: null,
  addedSince: null,
};

export type { BatchId, JobFilter, JobId };
