/** What adding the files would come to: asked anew whenever an option changes, and only the last answer counts. */
import { toProblem, type Backend } from '../backend/backend';
import type { Problem } from '../backend/types/Problem';
import type { ScanId } from '../backend/types/ScanId';
import type { Submission } from '../backend/types/Submission';
import type { SubmissionPlan } from '../backend/types/SubmissionPlan';

/** Long enough that a value is not planned letter by letter. */
const PAUSE_MS = 120;

export class AddPlan {
  plan = $state.raw<SubmissionPlan | null>(null);
  problem = $state.raw<Problem | null>(null);
  private asked = '';
  private generation = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly backend: Backend,
    private readonly scanId: ScanId,
  ) {}

  /** Plans a submission soon, the first one at once. The figures before stay until the answer is there. */
  look(submission: Submission): void {
    const asked = JSON.stringify(submission);
    if (asked === this.asked) return;
    const first = this.asked === '';
    this.asked = asked;
    this.generation += 1;
    clearTimeout(this.timer);
    if (first) void this.read(submission);
    else this.timer = setTimeout(() => void this.read(submission), PAUSE_MS);
  }

  private async read(submission: Submission): Promise<void> {
    const generation = this.generation;
    try {
      const plan = await this.backend.planSubmission(this.scanId, submission);
      if (generation !== this.generation) return;
      this.plan = plan;
      this.problem = null;
    } catch (reason) {
      if (generation === this.generation) this.problem = toProblem(reason);
    }
  }
}
