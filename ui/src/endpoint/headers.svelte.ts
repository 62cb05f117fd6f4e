/** Extra headers as they are being entered. Their values go to the engine and never come back. */
import type { App } from '../app/app.svelte';
import { sayProblem } from '../app/toasts.svelte';
import { toProblem } from '../backend/backend';
import { t } from '../text/text.svelte';

/** Headers of the connection and of the body, as the engine has them. */
const OURS = [
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'transfer-encoding',
  'upgrade',
];
export const MOST_HEADERS = 20;

export interface HeaderRow {
  id: number;
  name: string;
  value: string;
}

export class HeadersForm {
  rows = $state<HeaderRow[]>([]);
  editing = $state(false);
  sessionOnly = $state(false);
  busy = $state(false);
  problem = $state<string | null>(null);
  /** What is wrong is said once saving was tried. */
  private tried = $state(false);
  private lastId = 0;

  constructor(private readonly app: App) {}

  begin(): void {
    this.rows = [];
    this.add();
    this.tried = false;
    this.problem = null;
    this.sessionOnly = this.app.overview.key.keychainProblem !== null;
    this.editing = true;
  }

  /** Forgets what was typed. */
  end(): void {
    this.rows = [];
    this.editing = false;
  }

  add(): void {
    this.lastId += 1;
    this.rows.push({ id: this.lastId, name: '', value: '' });
  }

  leaveOut(row: HeaderRow): void {
    this.rows = this.rows.filter((each) => each.id !== row.id);
  }

  wrongName(row: HeaderRow): string | null {
    return this.tried ? this.nameFault(row) : null;
  }

  wrongValue(row: HeaderRow): string | null {
    return this.tried ? valueFault(row.value) : null;
  }

  async save(): Promise<void> {
    this.tried = true;
    const right = this.rows.every((row) => this.nameFault(row) === null && valueFault(row.value) === null);
    if (this.busy || !right) return;
    const text = this.rows.map((row) => `${row.name.trim()}: ${row.value.trim()}`).join('\n');
    if (await this.keep(text)) this.app.toasts.done(t.endpoints.headersSaved);
  }

  async remove(): Promise<void> {
    if (await this.keep('')) this.app.toasts.done(t.endpoints.headersRemoved);
  }

  private async keep(text: string): Promise<boolean> {
    this.busy = true;
    this.problem = null;
    try {
      this.app.endpoint = await this.app.backend.saveHeaders(text, this.sessionOnly);
      this.end();
      return true;
    } catch (reason) {
      const problem = toProblem(reason);
      const { title, hint } = sayProblem(problem);
      this.problem = `${title} ${hint}`;
      // Without a keychain the way on is to keep them in memory.
      if (problem.code === 'keychain-unavailable') this.sessionOnly = true;
      return false;
    } finally {
      this.busy = false;
    }
  }

  private nameFault(row: HeaderRow): string | null {
    const name = row.name.trim().toLowerCase();
    if (!/^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name)) return t.endpoints.headerNameBad;
    if (OURS.includes(name)) return t.endpoints.headerOurs;
    const first = this.rows.find((each) => each.name.trim().toLowerCase() === name);
    return first?.id === row.id ? null : t.endpoints.headerTwice;
  }
}

function valueFault(value: string): string | null {
  return /^[\x20-\x7e]+$/.test(value.trim()) ? null : t.endpoints.headerValueBad;
}
