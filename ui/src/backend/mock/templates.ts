/** The played templates: what came with the app, and what a person made of it. */
import { currentTime } from '../../app/clock.svelte';
import type { Backend } from '../backend';
import type { Problem } from '../types/Problem';
import type { TemplateDraft } from '../types/TemplateDraft';
import type { TemplatePreview } from '../types/TemplatePreview';
import type { TemplateView } from '../types/TemplateView';
import type { Answer } from './index';

const FILLED_IN: Record<string, string> = {
  file_name: 'annual-report.pdf',
  pages: '24',
  language: 'the language of the document',
  today: '2026-02-12',
};
const ASKED_FOR = ['language'];
const LETTERS_A_TOKEN = 4;
const DAY_MS = 86_400_000;

const BRIEF = `Summarize this document for a colleague who has not read it. Write in {language}.

Begin with one sentence that says what it found. Then list the findings, each with its page.`;

const LEASE = `Fill in the fields from this lease. Give amounts in {currency}.

Leave a field empty where the lease does not say; never guess.`;

function shipped(change: Partial<TemplateView> & Pick<TemplateView, 'templateId' | 'name'>): TemplateView {
  const version = change.version ?? 1;
  return {
    template: `${change.templateId}-v${version}`,
    version,
    kind: 'prose',
    body: BRIEF,
    fields: [],
    sends: 'pdf',
    variables: [],
    builtIn: false,
    jobs: 0,
    createdAt: currentTime() - 30 * DAY_MS,
    ...change,
  };
}

export function variablesOf(body: string): string[] {
  const names = [...body.matchAll(/\{([a-z][a-z0-9_]*)\}/g)].map((match) => match[1] ?? '');
  return [...new Set(names)].filter((name) => ASKED_FOR.includes(name) || !(name in FILLED_IN));
}

export class PlayedTemplates {
  private list: TemplateView[] = [
    shipped({
      templateId: 'pdf-summarize',
      name: 'Research paper brief',
      version: 4,
      kind: 'cited-prose',
      variables: variablesOf(BRIEF),
      builtIn: true,
      jobs: 644,
    }),
    shipped({
      templateId: 'lease-abstract',
      name: 'Lease abstract',
      version: 2,
      kind: 'fields',
      body: LEASE,
      variables: variablesOf(LEASE),
      jobs: 64,
      fields: [
        { name: 'tenant', kind: 'text', description: 'Full name of the tenant.' },
        { name: 'starts_on', kind: 'date', description: 'First day of the term.' },
        { name: 'rent_per_year', kind: 'number', description: 'Rent of the first year, without tax.' },
        { name: 'break_clause', kind: 'yes-no', description: 'Whether the tenant may end it early.' },
        { name: 'obligations', kind: 'list', description: 'What the tenant must maintain.' },
      ],
    }),
    shipped({
      templateId: 'decisions',
      name: 'Decisions and actions',
      body: 'List the decisions in {file_name}, then who does what until when.',
      jobs: 90,
    }),
  ];

  all(): TemplateView[] {
    return this.list;
  }

  of(template: string): TemplateView | undefined {
    return this.list.find((each) => each.template === template);
  }

  create(draft: TemplateDraft): TemplateView {
    this.check(draft);
    const slug = draft.name.toLowerCase().replace(/[^a-z0-9]+/g, '-') || 'template';
    const made = shipped({
      ...draft,
      templateId: `${slug}-${this.list.length}`,
      variables: variablesOf(draft.body),
      createdAt: currentTime(),
    });
    this.list = [...this.list, made];
    return made;
  }

  edit(templateId: string, draft: TemplateDraft): TemplateView {
    this.check(draft);
    const before = this.list.find((each) => each.templateId === templateId);
    if (!before) throw gone();
    const version = before.version + 1;
    const made = {
      ...before,
      ...draft,
      version,
      template: `${templateId}-v${version}`,
      variables: variablesOf(draft.body),
      createdAt: currentTime(),
    };
    this.list = this.list.map((each) => (each === before ? made : each));
    return made;
  }

  duplicate(template: string): TemplateView {
    const before = this.of(template);
    if (!before) throw gone();
    const { kind, body, fields, sends } = before;
    return this.create({ name: `${before.name} (copy)`, kind, body, fields, sends });
  }

  remove(templateId: string): void {
    this.list = this.list.filter((each) => each.templateId !== templateId);
  }

  preview(draft: TemplateDraft, variables: Record<string, string>): TemplatePreview {
    const asked = variablesOf(draft.body);
    const text = draft.body.replaceAll(/\{([a-z][a-z0-9_]*)\}/g, (whole, name: string) => {
      return variables[name] || FILLED_IN[name] || (asked.includes(name) ? '' : whole);
    });
    return {
      text,
      variables: asked,
      tokens: Math.ceil(text.length / LETTERS_A_TOKEN) + draft.fields.length * 40,
      problem: problemOf(draft),
    };
  }

  private check(draft: TemplateDraft): void {
    const message = problemOf(draft);
    if (message !== null) throw { code: 'bad-input', message, hint: 'Change it and save again.' } as Problem;
  }
}

function gone(): Problem {
  return { code: 'not-found', message: 'This template does not exist.', hint: '' };
}

/** What keeps a draft from being saved. */
function problemOf({ name, kind, body, fields }: TemplateDraft): string | null {
  if (name.trim() === '') return 'A template needs a name.';
  if (body.trim() === '') return 'A template needs a prompt.';
  if ((body.match(/\{/g) ?? []).length !== (body.match(/\}/g) ?? []).length)
    return 'A brace is not closed: write {name}.';
  if (kind !== 'fields') return null;
  if (fields.length === 0) return 'A template with fields needs one field at least.';
  const bad = fields.find((field) => !/^[A-Za-z0-9_-]+$/.test(field.name));
  if (bad) return `The field “${bad.name}” needs a name of letters, digits, _ and -.`;
  const twice = fields.find((field, at) => fields.findIndex((each) => each.name === field.name) !== at);
  return twice ? `Two fields are called “${twice.name}”.` : null;
}

export function templateCommands(
  templates: PlayedTemplates,
  answer: Answer,
): Pick<
  Backend,
  | 'templates'
  | 'createTemplate'
  | 'editTemplate'
  | 'duplicateTemplate'
  | 'removeTemplate'
  | 'previewTemplate'
  | 'importTemplate'
  | 'exportTemplate'
> {
  return {
    templates: () => answer('templates', () => templates.all()),
    createTemplate: (draft) => answer('createTemplate', () => templates.create(draft)),
    editTemplate: (templateId, draft) => answer('editTemplate', () => templates.edit(templateId, draft)),
    duplicateTemplate: (template) => answer('duplicateTemplate', () => templates.duplicate(template)),
    removeTemplate: (templateId) => answer('removeTemplate', () => templates.remove(templateId)),
    previewTemplate: (draft, variables) =>
      answer('previewTemplate', () => templates.preview(draft, variables)),
    importTemplate: () =>
      answer('importTemplate', () =>
        templates.create({
          name: 'Audit findings',
          kind: 'cited-prose',
          body: 'List the findings of this audit by severity.',
          fields: [],
          sends: 'pdf',
        }),
      ),
    exportTemplate: (template) =>
      answer('exportTemplate', () => `/home/mika/Documents/${templates.of(template)?.name ?? template}.json`),
  };
}
