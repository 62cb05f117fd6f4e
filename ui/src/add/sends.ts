/** Whether the text of PDFs is sent in place of them: the template says so, or the address can't read PDFs. */
import type { EndpointView } from '../backend/types/EndpointView';
import type { TemplateView } from '../backend/types/TemplateView';

export function sendsText(endpoint: EndpointView, template: TemplateView | undefined): boolean {
  return template?.sends === 'text' || endpoint.textOnly;
}
