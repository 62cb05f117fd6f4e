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
  /** Takes back what was done; only what can be taken back has one. */
  undo: (() => Promise<void>) | null;
  /** What can be done with it next. */
  acts: ToastAct[];
}

export interface ToastAct {
  label: string;
  act: () => void;
}

const DONE_MS = 4000;
/** Long enough to read it and to reach for the button. */
const UNDO_MS = 8000;
const PROBLEM_MS = 15000;

export class Toasts {
  list = $state<Toast[]>([]);
  /** Sheets that are open. A sheet covers the window, so the topmost one shows the toasts. */
  sheets = $state(0);
  private lastId = 0;
  private readonly timers = new Map<number, ReturnType<typeof setTimeout>>();

  done(title: string, undo: (() => Promise<void>) | null = null): void {
    this.add({ title, hint: '', detail: '', bad: false, undo, acts: [] });
  }

  /** Something was written, and there is something to do with it. */
  written(title: string, hint: string, acts: ToastAct[]): void {
    this.add({ title, hint, detail: '', bad: false, undo: null, acts });
  }

  /** Takes back what the toast tells of. */
  async undo(toast: Toast): Promise<void> {
    const undo = toast.undo;
    this.dismiss(toast.id);
    if (undo) await this.attempt(undo);
  }

  /** Takes back the last act that can be; answers whether there was one. */
  undoLast(): boolean {
    const toast = this.list.findLast((each) => each.undo !== null);
    if (toast) void this.undo(toast);
    return toast !== undefined;
  }

  problem(problem: Problem): void {
    this.add({ ...sayProblem(problem), bad: true, undo: null, acts: [] });
  }

  /** Something that is not the engine's did not work. */
  failed(title: string, hint: string): void {
    this.add({ title, hint, detail: '', bad: true, undo: null, acts: [] });
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
    if (toast) this.expire(toast);
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

  private add(given: Omit<Toast, 'id'>): void {
    // The same words twice are one message.
    const same = this.list.find((each) => each.title === given.title && each.detail === given.detail);
    if (same) this.dismiss(same.id);
    this.lastId += 1;
    const toast = { ...given, id: this.lastId };
    this.list = [...this.list.slice(-2), toast];
    this.expire(toast);
  }

  private expire(toast: Toast): void {
    this.hold(toast.id);
    const lifetime = toast.bad ? PROBLEM_MS : toast.undo || toast.acts.length > 0 ? UNDO_MS : DONE_MS;
    this.timers.set(
      toast.id,
      setTimeout(() => this.dismiss(toast.id), lifetime),
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
