/** A template while it is written: the draft, and a preview that follows it. */
import type { Backend } from '../backend/backend';
import { toProblem } from '../backend/backend';
import type { Problem } from '../backend/types/Problem';
import type { TemplateDraft } from '../backend/types/TemplateDraft';
import type { TemplateField } from '../backend/types/TemplateField';
import type { TemplatePreview } from '../backend/types/TemplatePreview';
import type { TemplateView } from '../backend/types/TemplateView';

/** Long enough that a word is not previewed letter by letter. */
const PAUSE_MS = 250;

export const KNOWN = ['file_name', 'pages', 'language', 'today'] as const;

/** A field with a name of its own for the list, since two may be called the same while they are written. */
export interface DraftField extends TemplateField {
  key: number;
}

export class DraftForm {
  name = $state('');
  kind = $state<TemplateDraft['kind']>('cited-prose');
  body = $state('');
  sends = $state<TemplateDraft['sends']>('pdf');
  fields = $state<DraftField[]>([]);
  preview = $state.raw<TemplatePreview | null>(null);
  problem = $state.raw<Problem | null>(null);
  private lastKey = 0;
  private generation = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly before: string;

  constructor(
    private readonly backend: Backend,
    of: TemplateView | null,
  ) {
    if (of) {
      this.name = of.name;
      this.kind = of.kind;
      this.body = of.body;
      this.sends = of.sends;
      this.fields = of.fields.map((field) => ({ ...field, key: this.newKey() }));
    }
    this.before = JSON.stringify(this.draft);
    void this.look();
  }

  /** What is saved: fields belong to their shape only. */
  get draft(): TemplateDraft {
    const fields = this.fields.map(({ name, kind, description }) => ({
      name: name.trim(),
      kind,
      description: description.trim(),
    }));
    return {
      name: this.name.trim(),
      kind: this.kind,
      body: this.body,
      sends: this.sends,
      fields: this.kind === 'fields' ? fields : [],
    };
  }

  get dirty(): boolean {
    return JSON.stringify(this.draft) !== this.before;
  }

  /** Whether there is something to save and the last preview knew nothing against it; the engine has the last word. */
  get ready(): boolean {
    return this.preview !== null && this.preview.problem === null && this.dirty;
  }

  set(change: Partial<Pick<DraftForm, 'name' | 'kind' | 'body' | 'sends'>>): void {
    Object.assign(this, change);
    if (this.kind === 'fields' && this.fields.length === 0) this.fields = [this.emptyField()];
    this.lookSoon();
  }

  setField(at: number, change: Partial<TemplateField>): void {
    this.fields = this.fields.map((field, index) => (index === at ? { ...field, ...change } : field));
    this.lookSoon();
  }

  addField(): void {
    this.fields = [...this.fields, this.emptyField()];
    this.lookSoon();
  }

  removeField(at: number): void {
    this.fields = this.fields.filter((_, index) => index !== at);
    this.lookSoon();
  }

  /** Exchanges a field with its neighbour. */
  moveField(at: number, by: -1 | 1): void {
    const [field, other] = [this.fields[at], this.fields[at + by]];
    if (!field || !other) return;
    const fields = [...this.fields];
    fields[at] = other;
    fields[at + by] = field;
    this.fields = fields;
    this.lookSoon();
  }

  private newKey(): number {
    this.lastKey += 1;
    return this.lastKey;
  }

  private emptyField(): DraftField {
    return { key: this.newKey(), name: '', kind: 'text', description: '' };
  }

  private lookSoon(): void {
    this.generation += 1;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.look(), PAUSE_MS);
  }

  private async look(): Promise<void> {
    const generation = this.generation;
    try {
      const preview = await this.backend.previewTemplate(this.draft, standIns(this.body));
      if (generation !== this.generation) return;
      this.preview = preview;
      this.problem = null;
    } catch (reason) {
      if (generation === this.generation) this.problem = toProblem(reason);
    }
  }
}

/** A variable of the person's own is shown by its name: its value is given when files are added. */
export function standIns(body: string): Record<string, string> {
  const names = [...body.matchAll(/\{([A-Za-z0-9_-]+)\}/g)].map((match) => match[1] ?? '');
  const own = names.filter((name) => !(KNOWN as readonly string[]).includes(name));
  return Object.fromEntries(own.map((name) => [name, `{${name}}`]));
}
