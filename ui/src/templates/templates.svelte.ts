/** Templates as they are listed, made, changed and thrown away. */
import type { App } from '../app/app.svelte';
import type { TemplateDraft } from '../backend/types/TemplateDraft';
import type { TemplateView } from '../backend/types/TemplateView';
import { t } from '../text/text.svelte';

export class Templates {
  constructor(private readonly app: App) {}

  /** Saves a draft as a new template, or as the next version of one. */
  save(draft: TemplateDraft, of: TemplateView | null): Promise<boolean> {
    return this.change(async (backend) => {
      const saved = await (of ? backend.editTemplate(of.templateId, draft) : backend.createTemplate(draft));
      return t.templates.saved(saved.name, saved.version);
    });
  }

  duplicate(template: string): Promise<boolean> {
    return this.change(async (backend) =>
      t.templates.duplicated((await backend.duplicateTemplate(template)).name),
    );
  }

  remove({ templateId, name }: TemplateView): Promise<boolean> {
    return this.change(async (backend) => {
      await backend.removeTemplate(templateId);
      return t.templates.removed(name);
    });
  }

  import(): Promise<boolean> {
    return this.change(async (backend) => {
      const imported = await backend.importTemplate();
      return imported && t.templates.imported(imported.name);
    });
  }

  export(template: string): Promise<boolean> {
    return this.app.toasts.attempt(async () => {
      const path = await this.app.backend.exportTemplate(template);
      if (path !== null) this.app.toasts.written(t.templates.exported, '', [this.app.revealing(path)]);
    });
  }

  /** Does something to the list, reads it anew and says what was done; nothing where the person stepped back. */
  private change(act: (backend: App['backend']) => Promise<string | null>): Promise<boolean> {
    return this.app.toasts.attempt(async () => {
      const said = await act(this.app.backend);
      await this.app.readTemplates();
      if (said !== null) this.app.toasts.done(said);
    });
  }
}
