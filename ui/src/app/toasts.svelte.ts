/** Short messages at the lower edge: what was done, or what happened and what to do about it. */
import { toProblem } from '../backend/backend';
import type { Problem } from '../backend/types/Problem';
import { language, t } from '../text/text.svelte';

export interface Toast {
  id: number;
  title: string;
  /** What to do; only problems have one. */
  hint: string;
  /** The engine's own words where they say more than the title. */
  detail: string;
  bad: boolean;
}

const DONE_MS = 4000;
const PROBLEM_MS = 15000;

export class Toasts {
  list = $state<Toast[]>([]);
  /** Sheets that are open. A sheet covers the window, so the topmost one shows the toasts. */
  sheets = $state(0);
  private lastId = 0;
  private readonly timers = new Map<number, ReturnType<typeof setTimeout>>();

  done(title: string): void {
    this.add({ title, hint: '', detail: '', bad: false }, DONE_MS);
  }

  problem(problem: Problem): void {
    this.add({ ...sayProblem(problem), bad: true }, PROBLEM_MS);
  }

  dismiss(id: number): void {
    this.list = this.list.filter((toast) => toast.id !== id);
    this.hold(id);
  }

  /** A toast that is pointed at or focused stays. */
  hold(id: number): void {
    clearTimeout(this.timers.get(id));
    this.timers.delete(id);
  }

  release(id: number): void {
    const toast = this.list.find((each) => each.id === id);
    if (toast) this.expire(id, toast.bad ? PROBLEM_MS : DONE_MS);
  }

  /** Does something that may fail, and says so when it does. Answers whether it worked. */
  async attempt(action: () => Promise<void>): Promise<boolean> {
    try {
      await action();
      return true;
    } catch (reason) {
      this.problem(toProblem(reason));
      return false;
    }
  }

  private add(toast: Omit<Toast, 'id'>, lifetime: number): void {
    // The same words twice are one message.
    const same = this.list.find((each) => each.title === toast.title && each.detail === toast.detail);
    if (same) this.dismiss(same.id);
    this.lastId += 1;
    this.list = [...this.list.slice(-2), { ...toast, id: this.lastId }];
    this.expire(this.lastId, lifetime);
  }

  private expire(id: number, lifetime: number): void {
    this.hold(id);
    this.timers.set(
      id,
      setTimeout(() => this.dismiss(id), lifetime),
    );
  }
}

/**
 * Words a problem in the language shown. The engine speaks English: there its own sentences are the best ones; in
 * another language they are kept as the detail.
 */
export function sayProblem(problem: Problem): { title: string; hint: string; detail: string } {
  const words = t.problem[problem.code];
  if (language() === 'en') {
    return { title: problem.message || words.title, hint: problem.hint || words.hint, detail: '' };
  }
  return { title: words.title, hint: words.hint, detail: problem.message };
}
