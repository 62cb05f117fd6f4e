/** What an attempt asked about, in words; empty for the whole document. */
import type { AttemptStep } from '../backend/types/AttemptStep';
import type { PageRange } from '../backend/types/PageRange';
import { t } from '../text/text.svelte';

export function stepWords(step: AttemptStep): string {
  switch (step.of) {
    case 'whole':
      return '';
    case 'part':
      return pageWords(step.pages);
    case 'combine':
      return t.documents.combineStep;
  }
}

export function pageWords({ first, last }: PageRange): string {
  return t.documents.pagesOf(first, last);
}
