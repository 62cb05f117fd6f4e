/**
 * Turns many calls into few runs: at most one at a time, at most five a second, one a second while nobody
 * looks at the window. The last call is never lost.
 */
import { isAttended } from './attention';

const VISIBLE_GAP_MS = 200;
const HIDDEN_GAP_MS = 1000;
/** A run that takes long is not repeated at once: it gets this many times its own duration of rest. */
const REST_FACTOR = 3;

export function coalesce(run: () => Promise<void>): () => void {
  let timer: ReturnType<typeof setTimeout> | null = null;
  let running = false;
  let again = false;
  let notBefore = 0;

  const start = async (): Promise<void> => {
    timer = null;
    running = true;
    again = false;
    const began = performance.now();
    try {
      await run();
    } finally {
      const ended = performance.now();
      const gap = isAttended() ? VISIBLE_GAP_MS : HIDDEN_GAP_MS;
      notBefore = ended + Math.max(gap, (ended - began) * REST_FACTOR);
      running = false;
      if (again) call();
    }
  };

  const call = (): void => {
    if (running) {
      again = true;
      return;
    }
    timer ??= setTimeout(() => void start(), Math.max(0, notBefore - performance.now()));
  };
  return call;
}
