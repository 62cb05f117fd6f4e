/** Running jobs again with changes: the form, and the dry run that follows it. */
import type { Backend } from '../backend/backend';
import { NO_CHANGES, toProblem } from '../backend/backend';
import type { Problem } from '../backend/types/Problem';
import type { RetryChanges } from '../backend/types/RetryChanges';
import type { RetryPlan } from '../backend/types/RetryPlan';
import type { Again } from './actions.svelte';

/** The engine's own limits. */
export const LEAST_TOKENS = 256;
export const MOST_TOKENS = 64_000;
/** Long enough that a word is not planned letter by letter. */
const PAUSE_MS = 200;
/** Among so many is one that goes at half price, where any does. */
const LOOKED_AT = 20;

export class RetryForm {
  changes = $state<RetryChanges>(NO_CHANGES);
  /** What is typed as the output limit; empty for as before. */
  limit = $state('');
  plan = $state.raw<RetryPlan | null>(null);
  problem = $state.raw<Problem | null>(null);
  /** Whether done jobs are among what was selected, so that the person decides about them. */
  hasCompleted = $state(false);
  /** Whether some of the jobs go at half price, so that there may be more of it. */
  hasBatch = $state(false);
  private generation = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly backend: Backend,
    private readonly again: Again,
  ) {
    this.changes = { ...NO_CHANGES, ...again.changes };
    this.hasCompleted = this.changes.completed;
    this.limit = this.changes.maxTokens === null ? '' : String(this.changes.maxTokens);
    void this.look();
  }

  get limitFits(): boolean {
    const tokens = Number(this.limit);
    return (
      this.limit.trim() === '' ||
      (Number.isInteger(tokens) && tokens >= LEAST_TOKENS && tokens <= MOST_TOKENS)
    );
  }

  set(change: Partial<RetryChanges>): void {
    this.changes = { ...this.changes, ...change };
    this.lookSoon();
  }

  setLimit(text: string): void {
    this.limit = text;
    if (this.limitFits) this.set({ maxTokens: text.trim() === '' ? null : Number(text) });
    else this.lookSoon();
  }

  /** An offline summary knows neither model nor template nor limit, and nobody asks it at half price. */
  get effective(): RetryChanges {
    const { changes } = this;
    if (changes.provider !== 'offline') return changes;
    const delivery = changes.delivery === null ? null : ('each' as const);
    return { ...changes, model: null, template: null, maxTokens: null, delivery };
  }

  /** Looks at the first of the jobs. Where they can't be read, the choice is that of the endpoint. */
  async lookAtJobs(): Promise<void> {
    const { backend } = this;
    const { selection } = this.again;
    const jobs =
      selection.select === 'matching'
        ? backend.jobs(selection.filter, null, LOOKED_AT).then((page) => page.jobs)
        : Promise.all(
            selection.jobIds.slice(0, LOOKED_AT).map(async (jobId) => (await backend.job(jobId)).job),
          );
    this.hasBatch = (await jobs.catch(() => [])).some((job) => job.delivery === 'batch');
  }

  private lookSoon(): void {
    this.generation += 1;
    this.plan = null;
    clearTimeout(this.timer);
    if (this.limitFits) this.timer = setTimeout(() => void this.look(), PAUSE_MS);
  }

  private async look(): Promise<void> {
    const generation = this.generation;
    try {
      const plan = await this.backend.planRetry(this.again.selection, $state.snapshot(this.effective));
      if (generation !== this.generation) return;
      this.plan = plan;
      if (plan.wouldNot.some((each) => each.reason.why === 'completed')) this.hasCompleted = true;
      this.problem = null;
    } catch (reason) {
      if (generation === this.generation) this.problem = toProblem(reason);
    }
  }
}
