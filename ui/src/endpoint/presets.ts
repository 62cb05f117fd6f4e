/** The endpoints that can be chosen, and where each usually is: what is filled in before a person changes it. */
import type { EndpointKind } from '../backend/types/EndpointKind';
import type { EndpointView } from '../backend/types/EndpointView';
import { t } from '../text/text.svelte';

export const KINDS: EndpointKind[] = ['anthropic', 'litellm', 'openrouter', 'ollama', 'lm-studio', 'other'];

export const USUAL_ADDRESS: Record<EndpointKind, string> = {
  anthropic: 'https://api.anthropic.com',
  litellm: 'http://localhost:4000',
  openrouter: 'https://openrouter.ai/api',
  ollama: 'http://localhost:11434',
  'lm-studio': 'http://localhost:1234',
  other: '',
};

/** Whether it is Anthropic itself, which always wants a key and always reads PDFs. */
export function isAnthropic({ address }: EndpointView): boolean {
  return /^https:\/\/api\.anthropic\.com(\/|$)/.test(address);
}

/** Its name within a sentence. */
export function nameOf({ kind }: { kind: EndpointKind }): string {
  return kind === 'other' ? t.endpoints.otherName : t.endpoints.names[kind];
}

/** Who answers at an address, by what it shows; the engine says so again when it is used. */
export function kindOf(address: string): EndpointKind {
  if (/^https:\/\/api\.anthropic\.com(\/|$)/.test(address)) return 'anthropic';
  if (/^https?:\/\/([^/]+\.)?openrouter\.ai(\/|$)/.test(address)) return 'openrouter';
  if (/:11434(\/|$)/.test(address) || /^https?:\/\/([^/]+\.)?ollama\.com(\/|$)/.test(address))
    return 'ollama';
  return /:1234(\/|$)/.test(address) ? 'lm-studio' : 'other';
}
