/** What is known of a document, as terms and words; what is unremarkable is not said. */
import type { DocumentView } from '../backend/types/DocumentView';
import type { JobDetail } from '../backend/types/JobDetail';
import type { TextLayer } from '../backend/types/TextLayer';
import { fileSize, languageName } from '../text/format';
import { t } from '../text/text.svelte';

export interface Fact {
  term: string;
  words: string;
  /** Whether it may have changed what came out. */
  careful: boolean;
}

/** Above this many unknown glyphs in a hundred, text should not be relied on. */
const RELIABLE_PERCENT = 5;

export function documentFacts(detail: JobDetail): Fact[] {
  const { document } = detail;
  if (document === null) return [];
  const { facts, bytes } = document;
  const list: (Fact | null)[] = [
    said(t.documents.title, facts.title),
    said(t.documents.language, facts.language === null ? null : languageName(facts.language)),
    textFact(facts.text),
    lockFact(document),
    said(t.documents.attachments, facts.attachments > 0 ? t.documents.attached(facts.attachments) : null),
    said(
      t.documents.fields,
      facts.fieldsUnseen > 0 ? t.documents.fieldsUnseen(facts.fieldsUnseen) : null,
      true,
    ),
    said(t.documents.state, facts.repaired ? t.documents.repaired : null),
    said(t.documents.state, facts.pagesUncertain ? t.documents.uncertain : null, true),
    said(t.documents.notInCopy, facts.annotationsLost ? t.documents.annotationsLost : null, true),
    said(t.documents.size, fileSize(bytes)),
    // An offline summary sends nothing anywhere.
    said(t.documents.sent, detail.job.provider === 'offline' ? null : sentWords(detail)),
  ];
  return list.filter((fact) => fact !== null);
}

function said(term: string, words: string | null, careful = false): Fact | null {
  return words === null || words === '' ? null : { term, words, careful };
}

function sentWords({ sends }: JobDetail): string {
  return sends === 'text' ? t.documents.asText : t.documents.asPdf;
}

function textFact(text: TextLayer | null): Fact | null {
  if (text === null || text.pagesRead === 0) return null;
  const { pagesRead, pagesWithText, unknownPercent } = text;
  if (pagesWithText === 0) return said(t.documents.text, t.documents.scanned);
  const where =
    pagesWithText === pagesRead
      ? t.documents.textOnAll(pagesRead)
      : t.documents.textOnSome(pagesWithText, pagesRead);
  const unreliable = unknownPercent > RELIABLE_PERCENT;
  const words = unreliable ? t.documents.unreliable(where, unknownPercent) : where;
  return said(t.documents.text, words, unreliable);
}

function lockFact({ encryption, facts }: DocumentView): Fact | null {
  const cipher = facts.cipher ?? t.documents.encrypted;
  switch (encryption) {
    case 'none':
      return null;
    case 'empty-password':
      return said(t.documents.encryption, t.documents.opensFreely(cipher));
    case 'needs-password':
      return said(t.documents.encryption, t.documents.needsPassword(cipher));
    case 'unsupported':
      return said(t.documents.encryption, t.documents.unsupported(cipher));
  }
}
