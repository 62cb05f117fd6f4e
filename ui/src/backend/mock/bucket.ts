/** The played bucket: its secret, its tests, and how uploads come on. */
import { currentTime } from '../../app/clock.svelte';
import type { Backend } from '../backend';
import type { BucketAddress } from '../types/BucketAddress';
import type { BucketSettings } from '../types/BucketSettings';
import type { BucketStatus } from '../types/BucketStatus';
import type { BucketTest } from '../types/BucketTest';
import type { JobId } from '../types/JobId';
import type { Jurisdiction } from '../types/Jurisdiction';
import type { Problem } from '../types/Problem';
import type { UploadCause } from '../types/UploadCause';
import type { UploadTrouble } from '../types/UploadTrouble';
import type { UploadsView } from '../types/UploadsView';
import type { UploadView } from '../types/UploadView';
import type { PlayedEngine } from './engine';
import type { Answer } from './index';

export const PLAYED_BUCKET: BucketSettings = {
  enabled: true,
  accountId: '4f1c9b7e20d84a6c8e5530b1a7d2f964',
  jurisdiction: 'default',
  endpoint: null,
  bucket: 'paper-summaries',
  folder: 'gistmill',
  accessKeyId: 'a81f0c5e9d7b4e22c3d4f5061728c41e',
  uploadDocuments: false,
  waitForUpload: false,
};

const TROUBLES: Partial<Record<UploadCause, [message: string, hint: string]>> = {
  'secret-missing': ['No secret is set for the bucket’s key.', 'Paste the secret access key.'],
  'key-unknown': ['R2 does not know this access key id.', 'Copy the id from the API token again.'],
  'secret-wrong': [
    'The secret does not belong to this access key id.',
    'Paste the secret again; R2 shows it once, when the token is made.',
  ],
  'not-allowed': ['The key may not write to this bucket.', 'Give the token “Object Read & Write”.'],
  'bucket-missing': [
    'There is no bucket of this name in the account.',
    'Check the name, or make the bucket in the dashboard.',
  ],
  'other-jurisdiction': ['The bucket is kept in another jurisdiction.', 'Choose the bucket’s jurisdiction.'],
  unreachable: ['R2 can’t be reached.', 'Check the connection; uploads go on by themselves.'],
};
const CUT_OFF = 'The connection was cut off five times.';

export function trouble(cause: UploadCause): UploadTrouble {
  const [message, hint] = TROUBLES[cause] ?? ['The bucket refused the upload.', 'Try again later.'];
  return { cause, message, hint };
}

export class PlayedUploads {
  secretSet: boolean;
  lasting = true;
  keychainProblem: string | null;
  readonly waiting = new Set<JobId>();
  readonly failed = new Set<JobId>();
  /** Results from before the bucket was set. */
  readonly missing = new Set<JobId>();
  readonly copies = new Set<JobId>();
  trouble: UploadTrouble | null = null;

  constructor(kind: string | null, engine: PlayedEngine) {
    this.secretSet = kind !== null && kind !== 'none';
    this.keychainProblem = engine.key.keychainProblem;
    const done = engine.jobs.filter((job) => job.status === 'completed').reverse();
    if (kind === 'waiting') {
      for (const job of done.slice(0, 3)) this.waiting.add(job.jobId);
      this.trouble = trouble('unreachable');
    }
    if (kind === 'failed') for (const job of done.slice(0, 2)) this.failed.add(job.jobId);
    if (kind !== null) for (const job of done.slice(-33)) this.missing.add(job.jobId);
    const copied = done.find((job) => job.sourcePath !== null && job.batchId === 'batch-soil' && !job.reused);
    if (kind === 'failed' && copied) this.copies.add(copied.jobId);
  }

  view(bucket: BucketSettings | null): UploadsView {
    const waits = this.waiting.size > 0;
    return {
      enabled: bucket?.enabled ?? false,
      waiting: this.waiting.size,
      oldestAt: waits ? currentTime() - 252_000 : null,
      failed: this.failed.size,
      trouble: waits ? this.trouble : null,
      retryAt: waits && this.trouble ? currentTime() + 38_000 : null,
    };
  }

  of(jobId: JobId, storedAt: number, bucket: BucketSettings | null): UploadView | null {
    if (!bucket?.enabled || this.missing.has(jobId)) return null;
    const now = currentTime();
    if (this.waiting.has(jobId))
      return { state: 'waiting', tries: 2, message: this.trouble?.message ?? null, at: now + 38_000 };
    if (this.failed.has(jobId)) return { state: 'failed', message: CUT_OFF, at: now - 600_000 };
    return { state: 'uploaded', address: `${addressOf(bucket)}/results/${jobId}.md`, at: storedAt + 900 };
  }

  status(engine: PlayedEngine): BucketStatus {
    const { bucket } = engine.settings;
    const done = engine.jobs.filter((job) => job.status === 'completed');
    const elsewhere = this.waiting.size + this.failed.size + this.missing.size;
    return {
      address: bucket && addressOf(bucket),
      secretSet: this.secretSet,
      secretSource: this.secretSet ? (this.lasting ? 'keychain' : 'session') : 'none',
      keychainProblem: this.keychainProblem,
      uploads: this.view(bucket),
      uploaded: bucket?.enabled ? Math.max(0, done.length - elsewhere) : 0,
      notUploaded: this.missing.size,
      failures: done
        .filter((job) => this.failed.has(job.jobId))
        .map((job) => ({
          jobId: job.jobId,
          title: job.title,
          message: CUT_OFF,
          at: currentTime() - 600_000,
        })),
    };
  }
}

function addressOf(bucket: BucketSettings): string {
  const place = bucket.jurisdiction === 'default' ? '' : `.${bucket.jurisdiction}`;
  const host = bucket.endpoint ?? `https://${bucket.accountId}${place}.r2.cloudflarestorage.com`;
  return [host, bucket.bucket, bucket.folder].filter((part) => part !== '').join('/');
}

/** What the played R2 says; names with a fault in them bring that fault. */
function test(bucket: BucketSettings, secret: string | null, secretSet: boolean): BucketTest {
  const cause = ((): UploadCause | null => {
    if (secret === null && !secretSet) return 'secret-missing';
    if (bucket.accessKeyId.includes('unknown')) return 'key-unknown';
    if (secret?.includes('wrong')) return 'secret-wrong';
    if (bucket.bucket.includes('missing')) return 'bucket-missing';
    if (bucket.bucket.includes('europe') && bucket.jurisdiction !== 'eu') return 'other-jurisdiction';
    return bucket.bucket.includes('locked') ? 'not-allowed' : null;
  })();
  return { trouble: cause && trouble(cause), tookMs: 410 };
}

function readAddress(text: string): BucketAddress {
  const trimmed = text.trim();
  const nothing: BucketAddress = {
    accountId: '',
    jurisdiction: 'default',
    endpoint: null,
    bucket: null,
    folder: null,
  };
  if (/^[0-9a-f]{32}$/.test(trimmed)) return { ...nothing, accountId: trimmed };
  const address = /^https:\/\/([^/]+)(?:\/([^/]+))?(?:\/(.*?))?\/?$/.exec(trimmed);
  if (!address) {
    const message = 'This is neither a bucket’s address nor an account id.';
    throw {
      code: 'bad-input',
      message,
      hint: 'Copy the S3 API address from the bucket’s settings.',
    } as Problem;
  }
  const [, host = '', bucket = null, folder = null] = address;
  const own = /^([0-9a-f]{32})(?:\.(eu|fedramp))?\.r2\.cloudflarestorage\.com$/.exec(host);
  return own
    ? {
        ...nothing,
        accountId: own[1] ?? '',
        jurisdiction: (own[2] ?? 'default') as Jurisdiction,
        bucket,
        folder: folder || null,
      }
    : { ...nothing, endpoint: `https://${host}`, bucket, folder: folder || null };
}

const TEST_MS = 600;

export function bucketCommands(
  engine: PlayedEngine,
  answer: Answer,
): Pick<
  Backend,
  | 'bucketStatus'
  | 'saveBucketSecret'
  | 'testBucket'
  | 'readBucketAddress'
  | 'uploadMissing'
  | 'retryUploads'
  | 'retryCopies'
> {
  const { uploads } = engine;
  const move = (from: Set<JobId>): number => {
    const many = from.size;
    engine.set(() => {
      for (const jobId of from) uploads.waiting.add(jobId);
      from.clear();
    });
    return many;
  };
  return {
    bucketStatus: () => answer('bucketStatus', () => uploads.status(engine)),
    saveBucketSecret: (secret, sessionOnly) =>
      answer('saveBucketSecret', () => {
        if (uploads.keychainProblem !== null && secret !== null && !sessionOnly) {
          throw {
            code: 'keychain-unavailable',
            message: 'The system keychain can’t be used.',
            hint: 'Keep the secret for this session only.',
          } as Problem;
        }
        uploads.secretSet = secret !== null;
        uploads.lasting = !sessionOnly;
        return uploads.status(engine);
      }),
    testBucket: async (bucket, secret) => {
      await new Promise((resolve) => setTimeout(resolve, TEST_MS));
      return answer('testBucket', () => test(bucket, secret, uploads.secretSet));
    },
    readBucketAddress: (text) => answer('readBucketAddress', () => readAddress(text)),
    uploadMissing: () => answer('uploadMissing', () => move(uploads.missing)),
    retryUploads: () => answer('retryUploads', () => move(uploads.failed)),
    retryCopies: (selection) =>
      answer('retryCopies', () => {
        const wanted = selection.select === 'jobs' ? selection.jobIds : [...uploads.copies];
        const many = wanted.filter((jobId) => uploads.copies.delete(jobId)).length;
        engine.changed(wanted);
        return many;
      }),
  };
}
