/** A password while it is typed and tried. It is kept nowhere: the field is emptied when it opened something. */
import { toProblem } from '../backend/backend';
import type { Problem } from '../backend/types/Problem';

export class UnlockForm {
  text = $state('');
  busy = $state(false);
  /** It opened nothing; until it is typed over. */
  wrong = $state(false);
  /** What else went wrong. */
  problem = $state.raw<Problem | null>(null);
  /** Files that it opened, since the last try. */
  opened = $state(0);

  /** `attempt` answers how many files a password opens, or rejects with `bad-input` where it opens none. */
  constructor(private readonly attempt: (password: string) => Promise<number>) {}

  type(text: string): void {
    this.text = text;
    this.wrong = false;
    this.problem = null;
  }

  async unlock(): Promise<void> {
    if (this.text === '' || this.busy) return;
    this.busy = true;
    this.opened = 0;
    this.wrong = false;
    this.problem = null;
    try {
      this.opened = await this.attempt(this.text);
      this.wrong = this.opened === 0;
      if (!this.wrong) this.text = '';
    } catch (reason) {
      const problem = toProblem(reason);
      this.wrong = problem.code === 'bad-input';
      this.problem = this.wrong ? null : problem;
    } finally {
      this.busy = false;
    }
  }
}
