/**
 * What adding the files would come to: asked anew whenever an option or the files change, when more of them is counted,
 * and now and then, since the time it ends moves on. Only the last answer counts.
 */
import { coalesce } from '../app/coalesce';
import { toProblem, type Backend } from '../backend/backend';
import type { Forecast } from '../backend/types/Forecast';
import type { Problem } from '../backend/types/Problem';
import type { ScanReport } from '../backend/types/ScanReport';
import type { Submission } from '../backend/types/Submission';
import type { SubmissionPlan } from '../backend/types/SubmissionPlan';
import { TokenCount } from './counting.svelte';

/** Long enough that a value is not planned letter by letter. */
const PAUSE_MS = 120;
const ANEW_MS = 60_000;

export class AddPlan {
  plan = $state.raw<SubmissionPlan | null>(null);
  forecast = $state.raw<Forecast | null>(null);
  problem = $state.raw<Problem | null>(null);
  readonly tokens: TokenCount;
  private asked = '';
  private countedFor = '';
  private what: { report: ScanReport; submission: Submission } | null = null;
  private generation = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly anew: ReturnType<typeof setInterval>;
  private readonly refresh = coalesce(() => this.read());

  constructor(private readonly backend: Backend) {
    this.tokens = new TokenCount(backend, () => this.refresh());
    this.anew = setInterval(() => this.refresh(), ANEW_MS);
  }

  /** Plans a submission soon, the first one at once. The figures before stay until the answer is there. */
  look(report: ScanReport, submission: Submission, model = ''): void {
    // Without a model of its own a submission asks for the one of the settings, which may change meanwhile.
    const asked = JSON.stringify([submission, model]);
    if (asked === this.asked && report === this.what?.report) return;
    const first = this.asked === '';
    // What Claude would come to says nothing of an offline summary, nor the other way round.
    if (submission.provider !== this.what?.submission.provider) this.forecast = null;
    this.asked = asked;
    this.count(report, submission);
    this.what = { report, submission };
    this.generation += 1;
    clearTimeout(this.timer);
    if (first) void this.read();
    else this.timer = setTimeout(() => void this.read(), PAUSE_MS);
  }

  /** Plans and counts nothing any more. */
  end(): void {
    this.generation += 1;
    this.what = null;
    clearTimeout(this.timer);
    clearInterval(this.anew);
    this.tokens.end();
  }

  /** Has counted what these options send, if they send anything else than those before. */
  private count(report: ScanReport, submission: Submission): void {
    const { provider, template, model, fresh } = submission;
    const wanted = provider === 'claude' ? JSON.stringify([template, model, fresh]) : '';
    if (wanted === this.countedFor && report === this.what?.report) return;
    this.countedFor = wanted;
    if (wanted === '') this.tokens.end();
    else void this.tokens.begin(report.scanId, submission);
  }

  private async read(): Promise<void> {
    if (this.what === null) return;
    const { report, submission } = this.what;
    const generation = this.generation;
    try {
      let problem: Problem | null = null;
      const [plan, forecast] = await Promise.all([
        this.backend.planSubmission(report.scanId, submission),
        // Files can be added without it: then the cards have no figures, and it is said why.
        this.backend.forecastSubmission(report.scanId, submission).catch((reason: unknown) => {
          problem = toProblem(reason);
          return null;
        }),
      ]);
      if (generation !== this.generation) return;
      this.plan = plan;
      this.forecast = forecast;
      this.problem = problem;
    } catch (reason) {
      if (generation === this.generation) this.problem = toProblem(reason);
    }
  }
}
