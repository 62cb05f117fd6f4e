/** The report of one batch; counted anew when its jobs change. */
import { coalesce } from '../app/coalesce';
import { toProblem, type Backend } from '../backend/backend';
import type { BatchId } from '../backend/types/BatchId';
import type { BatchReport } from '../backend/types/BatchReport';
import type { Problem } from '../backend/types/Problem';

export class Report {
  batchId = $state<BatchId | null>(null);
  report = $state.raw<BatchReport | null>(null);
  problem = $state.raw<Problem | null>(null);

  readonly refresh = coalesce(() => this.load());

  constructor(private readonly backend: Backend) {}

  show(batchId: BatchId): Promise<void> {
    if (batchId !== this.batchId) this.report = null;
    this.batchId = batchId;
    this.problem = null;
    return this.load();
  }

  private async load(): Promise<void> {
    const batchId = this.batchId;
    if (batchId === null) return;
    try {
      const report = await this.backend.batchReport(batchId);
      if (batchId !== this.batchId) return;
      this.report = report;
      this.problem = null;
    } catch (reason) {
      if (batchId === this.batchId) this.problem = toProblem(reason);
    }
  }
}
