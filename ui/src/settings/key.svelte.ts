/** Pasting, testing and removing the key; the same in Settings and on the first-run screen. */
import type { App } from '../app/app.svelte';
import { currentTime } from '../app/clock.svelte';
import { toProblem } from '../backend/backend';
import type { KeyTest } from '../backend/types/KeyTest';
import type { Problem } from '../backend/types/Problem';

export class KeyForm {
  /** What was pasted; emptied as soon as the engine has it. */
  text = $state('');
  sessionOnly = $state(false);
  busy = $state(false);
  test = $state.raw<KeyTest | null>(null);
  /** When it was made. */
  testedAt = $state(0);
  problem = $state.raw<Problem | null>(null);

  constructor(private readonly app: App) {
    this.sessionOnly = app.overview.key.keychainProblem !== null;
  }

  /** Saves what was pasted, then tests it. */
  saveAndTest(): Promise<void> {
    return this.act(async () => {
      await this.app.backend.saveKey(this.text.trim(), this.sessionOnly);
      this.text = '';
      await this.app.readOverview();
      await this.makeTest();
    });
  }

  /** What was shown is of another place. */
  forget(): void {
    this.test = null;
    this.problem = null;
  }

  testAgain(): Promise<void> {
    return this.act(() => this.makeTest());
  }

  remove(): Promise<void> {
    return this.act(async () => {
      await this.app.backend.removeKey();
      await this.app.readOverview();
    });
  }

  private async makeTest(): Promise<void> {
    this.test = await this.app.backend.testKey();
    this.testedAt = currentTime();
  }

  private async act(action: () => Promise<void>): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    this.forget();
    try {
      await action();
    } catch (reason) {
      this.problem = toProblem(reason);
      // Without a keychain the way on is to keep the key in memory.
      if (this.problem.code === 'keychain-unavailable') this.sessionOnly = true;
    } finally {
      this.busy = false;
    }
  }
}
