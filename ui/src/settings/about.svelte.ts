/** What the installation says of itself; read when the settings open. */
import { toProblem, type Backend } from '../backend/backend';
import type { About } from '../backend/types/About';
import type { Problem } from '../backend/types/Problem';

export class AboutStore {
  about = $state.raw<About | null>(null);
  problem = $state.raw<Problem | null>(null);

  constructor(private readonly backend: Backend) {}

  async read(): Promise<void> {
    try {
      this.about = await this.backend.about();
      this.problem = null;
    } catch (reason) {
      this.problem = toProblem(reason);
    }
  }
}
