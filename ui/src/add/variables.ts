/** The values that a template asks for when files are added. */
import type { TemplateView } from '../backend/types/TemplateView';

/** Names of the inputs, the language of the answer last. */
export function askedFor(template: TemplateView | undefined): string[] {
  if (!template) return [];
  const own = template.variables.filter((name) => name !== 'language');
  return template.body.includes('{language}') ? [...own, 'language'] : own;
}

/** The values that were given, without the empty ones and those of another template. */
export function valuesFor(
  template: TemplateView | undefined,
  typed: Record<string, string>,
): Record<string, string> {
  const given = askedFor(template).map((name) => [name, typed[name]?.trim() ?? ''] as const);
  return Object.fromEntries(given.filter(([, value]) => value !== ''));
}
