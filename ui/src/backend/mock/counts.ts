/** The played provider counts tokens: a few files at a time, told as it goes. */
import type { ScanId } from '../types/ScanId';
import type { TokenCounting } from '../types/TokenCounting';
import type { PlayedEngine } from './engine';

const STEP_MS = 60;
const STEPS = 6;
/** Where a held counting stands still, so that it can be looked at. */
const HELD_SHARE = 0.84;

export class PlayedCounts {
  private readonly counted = new Map<ScanId, number>();
  private finish: (() => void) | null = null;

  constructor(
    private readonly engine: PlayedEngine,
    private readonly held: boolean,
  ) {}

  /** Files of a scan whose tokens are known. */
  of(scanId: ScanId): number {
    return this.counted.get(scanId) ?? 0;
  }

  /** Counts until all are known or it is ended; what is known stays known. */
  begin(scanId: ScanId, { countable, files }: { countable: number; files: number }): Promise<TokenCounting> {
    this.end();
    const most = this.held ? Math.floor(countable * HELD_SHARE) : countable;
    const counting = (): TokenCounting => ({ counted: this.of(scanId), countable, files });
    return new Promise((resolve) => {
      const step = (): void => {
        const next = Math.min(most, this.of(scanId) + Math.ceil(countable / STEPS));
        this.counted.set(scanId, Math.max(next, this.of(scanId)));
        this.engine.emit({ event: 'count-progress', scanId, counting: counting() });
        if (this.of(scanId) >= countable) this.end();
      };
      const timer = setInterval(step, STEP_MS);
      this.finish = () => {
        clearInterval(timer);
        resolve(counting());
      };
    });
  }

  end(): void {
    this.finish?.();
    this.finish = null;
  }
}
