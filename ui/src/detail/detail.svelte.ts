/** The job that is looked at, with its attempts and its summary. */
import { coalesce } from '../app/coalesce';
import { toProblem, type Backend } from '../backend/backend';
import type { JobDetail } from '../backend/types/JobDetail';
import type { JobId } from '../backend/types/JobId';
import type { Problem } from '../backend/types/Problem';

export class DetailStore {
  jobId = $state<JobId | null>(null);
  /** What is known of `jobId`; of the job before it until the answer is there. */
  detail = $state.raw<JobDetail | null>(null);
  problem = $state.raw<Problem | null>(null);

  readonly refresh = coalesce(() => this.load());

  constructor(private readonly backend: Backend) {}

  show(jobId: JobId | null): void {
    if (jobId === this.jobId) return;
    this.jobId = jobId;
    this.problem = null;
    if (jobId === null) this.detail = null;
    else void this.load();
  }

  /** The engine's word that jobs changed; an empty list means any. */
  changed(jobIds: JobId[]): void {
    if (this.jobId !== null && (jobIds.length === 0 || jobIds.includes(this.jobId))) this.refresh();
  }

  private async load(): Promise<void> {
    const jobId = this.jobId;
    if (jobId === null) return;
    try {
      const detail = await this.backend.job(jobId);
      if (jobId !== this.jobId) return;
      this.detail = detail;
      this.problem = null;
    } catch (reason) {
      if (jobId !== this.jobId) return;
      this.detail = null;
      this.problem = toProblem(reason);
    }
  }
}
