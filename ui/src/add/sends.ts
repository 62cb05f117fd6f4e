/** Whether the text of PDFs is sent in place of them: the template says so, or the address can't read PDFs. */
import type { Settings } from '../backend/types/Settings';
import type { TemplateView } from '../backend/types/TemplateView';

export function sendsText(settings: Settings, template: TemplateView | undefined): boolean {
  return template?.sends === 'text' || (settings.baseUrl !== null && settings.textOnly);
}
