/** The provider counts the tokens of what was found, which is free; it goes on as long as the sheet is open. */
import { currentTime } from '../app/clock.svelte';
import { toProblem, type Backend } from '../backend/backend';
import type { Problem } from '../backend/types/Problem';
import type { ScanId } from '../backend/types/ScanId';
import type { Submission } from '../backend/types/Submission';
import type { TokenCounting } from '../backend/types/TokenCounting';

/** Less tells nothing of how long the rest takes. */
const TELLING_MS = 2000;

export class TokenCount {
  state = $state<'none' | 'running' | 'done' | 'failed'>('none');
  counting = $state.raw<TokenCounting | null>(null);
  /** Why nothing was counted. */
  problem = $state.raw<Problem | null>(null);
  private first: { counted: number; at: number } | null = null;
  private generation = 0;

  /** `news` is called when more is counted. */
  constructor(
    private readonly backend: Backend,
    private readonly news: () => void,
  ) {}

  /** Counts for a submission; what was counted for another one is kept by the engine. */
  async begin(scanId: ScanId, submission: Submission): Promise<void> {
    this.generation += 1;
    const generation = this.generation;
    this.state = 'running';
    this.counting = null;
    this.problem = null;
    this.first = null;
    try {
      const counting = await this.backend.countTokens(scanId, submission);
      if (generation !== this.generation) return;
      this.counting = counting;
      this.state = 'done';
    } catch (reason) {
      if (generation !== this.generation) return;
      this.problem = toProblem(reason);
      this.state = 'failed';
    }
    this.news();
  }

  progressed(counting: TokenCounting): void {
    if (this.state !== 'running') return;
    this.first ??= { counted: counting.counted, at: currentTime() };
    this.counting = counting;
    this.news();
  }

  /** Seconds until the rest is counted, by the pace so far; `null` where that tells nothing yet. */
  secondsLeft(now: number): number | null {
    const { counting, first } = this;
    if (this.state !== 'running' || counting === null || first === null) return null;
    const [done, took] = [counting.counted - first.counted, now - first.at];
    if (done <= 0 || took < TELLING_MS) return null;
    return Math.ceil(((counting.countable - counting.counted) * took) / done / 1000);
  }

  /** Counts no more. */
  end(): void {
    const running = this.state === 'running';
    this.generation += 1;
    this.state = 'none';
    this.counting = null;
    // Whether it was still under way there makes no difference here.
    if (running) void this.backend.cancelCounting().catch(() => undefined);
  }
}
