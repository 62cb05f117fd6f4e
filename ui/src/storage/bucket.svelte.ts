/**
 * The bucket as it is being set up: a draft that is tested before it is saved. The secret goes to the keychain with the
 * draft and never comes back.
 */
import type { App } from '../app/app.svelte';
import { toProblem } from '../backend/backend';
import type { BucketSettings } from '../backend/types/BucketSettings';
import type { BucketStatus } from '../backend/types/BucketStatus';
import type { BucketTest } from '../backend/types/BucketTest';
import type { Problem } from '../backend/types/Problem';
import { t } from '../text/text.svelte';

const NO_BUCKET: BucketSettings = {
  enabled: false,
  accountId: '',
  jurisdiction: 'default',
  endpoint: null,
  bucket: '',
  folder: '',
  accessKeyId: '',
  uploadDocuments: false,
  waitForUpload: false,
};

export type BucketField = 'accountId' | 'bucket' | 'accessKeyId' | 'endpoint';

export class BucketForm {
  draft = $state<BucketSettings>(NO_BUCKET);
  /** What was pasted as the secret; emptied as soon as the engine has it. */
  secret = $state('');
  sessionOnly = $state(false);
  replacing = $state(false);
  status = $state.raw<BucketStatus | null>(null);
  testing = $state(false);
  test = $state.raw<BucketTest | null>(null);
  problem = $state.raw<Problem | null>(null);
  saving = $state(false);
  /** The bucket is on another server than Cloudflare's. */
  other = $state(false);
  /** An address that was pasted filled in the fields. */
  filled = $state(false);
  private touched = $state.raw<ReadonlySet<BucketField>>(new Set());
  private generation = 0;

  constructor(private readonly app: App) {
    this.draft = { ...NO_BUCKET, ...app.settings.bucket };
    this.other = this.draft.endpoint !== null;
    this.sessionOnly = app.overview.key.keychainProblem !== null;
  }

  get pasting(): boolean {
    return this.replacing || this.status?.secretSet !== true;
  }

  get dirty(): boolean {
    const saved = this.app.settings.bucket ?? NO_BUCKET;
    const differs = (Object.keys(NO_BUCKET) as (keyof BucketSettings)[]).some(
      (key) => saved[key] !== this.draft[key],
    );
    return differs || this.secret.trim() !== '';
  }

  /** What is wrong with a field, once the person has been there. */
  wrong(field: BucketField): string | null {
    return this.touched.has(field) ? this.faultOf(field) : null;
  }

  set(change: Partial<BucketSettings>): void {
    this.draft = { ...this.draft, ...change };
    this.filled = false;
    this.forget();
  }

  setOther(other: boolean): void {
    this.other = other;
    if (!other) this.set({ endpoint: null });
  }

  /** The draft as it is tested and saved: an address of its own takes the place of the account. */
  get effective(): BucketSettings {
    const draft = $state.snapshot(this.draft);
    return this.other ? { ...draft, accountId: '', jurisdiction: 'default' } : draft;
  }

  touch(...fields: BucketField[]): void {
    this.touched = new Set([...this.touched, ...fields]);
  }

  /** Fills in what a pasted address says; an account id alone stays what was pasted. */
  async paste(text: string): Promise<void> {
    this.forget();
    try {
      const { accountId, jurisdiction, endpoint, bucket, folder } =
        await this.app.backend.readBucketAddress(text);
      const { draft } = this;
      this.draft = {
        ...draft,
        accountId: endpoint === null ? accountId : draft.accountId,
        jurisdiction: bucket === null && endpoint === null ? draft.jurisdiction : jurisdiction,
        endpoint,
        bucket: bucket ?? draft.bucket,
        folder: folder ?? draft.folder,
      };
      this.other = endpoint !== null;
      this.filled = bucket !== null || endpoint !== null;
    } catch {
      // What can't be read stays as it was pasted, with the field's own word about it.
      this.draft = { ...this.draft, accountId: text.trim() };
      this.touch('accountId');
    }
  }

  read(): Promise<boolean> {
    return this.app.toasts.attempt(async () => {
      this.status = await this.app.backend.bucketStatus();
    });
  }

  /** Tries the draft as it stands. */
  async runTest(): Promise<void> {
    if (!this.complete() || this.testing) return;
    this.forget();
    const generation = this.generation;
    this.testing = true;
    const secret = this.pasting && this.secret.trim() !== '' ? this.secret.trim() : null;
    try {
      const test = await this.app.backend.testBucket(this.effective, secret);
      if (generation === this.generation) this.test = test;
    } catch (reason) {
      if (generation === this.generation) this.problem = toProblem(reason);
    } finally {
      if (generation === this.generation) this.testing = false;
    }
  }

  /** Waits for the test no longer; the object it may have left is overwritten by the next one. */
  stopTest(): void {
    this.generation += 1;
    this.testing = false;
  }

  async save(): Promise<void> {
    if (this.saving || (this.draft.enabled && !this.complete())) return;
    this.saving = true;
    this.problem = null;
    try {
      if (this.secret.trim() !== '') {
        this.status = await this.app.backend.saveBucketSecret(this.secret.trim(), this.sessionOnly);
        this.secret = '';
        this.replacing = false;
      }
      const bucket = this.effective;
      const saved = await this.app.saveSettings({ bucket });
      if (saved) this.draft = bucket;
      if (saved) this.app.toasts.done(this.draft.enabled ? t.storage.saved : t.storage.savedOff);
      await this.read();
      this.app.refreshAll();
    } catch (reason) {
      this.problem = toProblem(reason);
      // Without a keychain the way on is to keep the secret in memory.
      if (this.problem.code === 'keychain-unavailable') this.sessionOnly = true;
    } finally {
      this.saving = false;
    }
  }

  removeSecret(): Promise<boolean> {
    this.forget();
    return this.app.toasts.attempt(async () => {
      this.status = await this.app.backend.saveBucketSecret(null, false);
      this.app.refreshAll();
    });
  }

  retry(): Promise<boolean> {
    return this.queue(() => this.app.backend.retryUploads(), t.storage.retried);
  }

  uploadMissing(): Promise<boolean> {
    return this.queue(() => this.app.backend.uploadMissing(), t.storage.queued);
  }

  private queue(act: () => Promise<number>, said: (n: number) => string): Promise<boolean> {
    return this.app.toasts.attempt(async () => {
      this.app.toasts.done(said(await act()));
      this.status = await this.app.backend.bucketStatus();
      this.app.refreshAll();
    });
  }

  /** A test that was for something else says nothing any more. */
  private forget(): void {
    this.stopTest();
    this.test = null;
    this.problem = null;
  }

  private complete(): boolean {
    const fields: BucketField[] = ['accountId', 'bucket', 'accessKeyId', 'endpoint'];
    this.touch(...fields);
    return fields.every((field) => this.faultOf(field) === null);
  }

  private faultOf(field: BucketField): string | null {
    const { accountId, bucket, accessKeyId, endpoint } = this.draft;
    switch (field) {
      case 'accountId':
        return this.other || /^[0-9a-f]{32}$/i.test(accountId) ? null : t.storage.accountBad;
      case 'bucket':
        return bucket.trim() === '' ? t.storage.nameBad : null;
      case 'accessKeyId':
        return accessKeyId.trim() === '' ? t.storage.accessKeyBad : null;
      case 'endpoint':
        return !this.other || /^https?:\/\/\S+$/.test(endpoint ?? '') ? null : t.storage.endpointBad;
    }
  }
}
