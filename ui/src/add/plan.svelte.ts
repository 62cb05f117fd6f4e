/**
 * What adding the files would come to: asked anew whenever an option or the files change, and only the last answer
 * counts. Once, the provider is let count a few of the files, so that it is known how far estimates are off.
 */
import { toProblem, type Backend } from '../backend/backend';
import type { Problem } from '../backend/types/Problem';
import type { ScanReport } from '../backend/types/ScanReport';
import type { Submission } from '../backend/types/Submission';
import type { SubmissionPlan } from '../backend/types/SubmissionPlan';

/** Long enough that a value is not planned letter by letter. */
const PAUSE_MS = 120;

export class AddPlan {
  plan = $state.raw<SubmissionPlan | null>(null);
  problem = $state.raw<Problem | null>(null);
  private asked = '';
  private of: ScanReport | null = null;
  private checked = false;
  private generation = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly backend: Backend) {}

  /** Plans a submission soon, the first one at once. The figures before stay until the answer is there. */
  look(report: ScanReport, submission: Submission, model = ''): void {
    // Without a model of its own a submission asks for the one of the settings, which may change meanwhile.
    const asked = JSON.stringify([submission, model]);
    if (asked === this.asked && report === this.of) return;
    const first = this.asked === '';
    this.asked = asked;
    this.of = report;
    this.generation += 1;
    clearTimeout(this.timer);
    if (first) void this.read(report, submission);
    else this.timer = setTimeout(() => void this.read(report, submission), PAUSE_MS);
  }

  /** Plans nothing any more. */
  end(): void {
    this.generation += 1;
    clearTimeout(this.timer);
  }

  private async read(report: ScanReport, submission: Submission): Promise<void> {
    const generation = this.generation;
    try {
      const plan = await this.backend.planSubmission(report.scanId, submission);
      if (generation !== this.generation) return;
      this.plan = plan;
      this.problem = null;
    } catch (reason) {
      if (generation === this.generation) this.problem = toProblem(reason);
      return;
    }
    await this.check(generation, report, submission);
  }

  /** Free, and worth a try only: where it fails, tokens stay what they are called, estimated. */
  private async check(generation: number, report: ScanReport, submission: Submission): Promise<void> {
    if (this.checked || submission.provider !== 'claude') return;
    this.checked = true;
    try {
      await this.backend.checkEstimates(report.scanId, submission);
      if (generation !== this.generation) return;
      // What was counted may change the figures, too.
      const plan = await this.backend.planSubmission(report.scanId, submission);
      if (generation === this.generation) this.plan = plan;
    } catch {
      // The plan that is shown still holds.
    }
  }
}
