/** What a look into dropped files found: what can't work, what is worth knowing, and what was left out. */
import type { Notice } from '../backend/types/Notice';
import type { SkipReason } from '../backend/types/SkipReason';
import { count } from './format';

export interface FoundWords {
  name: string;
  /** What it means, in a sentence. */
  meaning: string;
}

const files = (n: number): string => `${count(n)} ${n === 1 ? 'file' : 'files'}`;

export const foundEn = {
  cannotWork: (n: number) => `${files(n)} can’t work`,
  cannotWorkNote: 'The others go on without them.',
  allFine: 'Every file can be summarized.',
  worthKnowing: 'Good to know',
  worthKnowingNote: 'These files are summarized all the same.',
  leftOut: (n: number) => `${count(n)} left out`,
  sameAs: (path: string) => `same as ${path}`,
  givenTwice: 'given twice',
  filesOf: (name: string) => `Files: ${name}`,
};

export const noticeEn: Record<Notice, FoundWords> = {
  decrypted: {
    name: 'Locked against changes only',
    meaning: 'They open without a password; an unlocked copy is sent.',
  },
  unlocked: {
    name: 'Opened with your password',
    meaning: 'An unlocked copy is sent; your file and the password stay on this machine.',
  },
  repaired: {
    name: 'Repaired',
    meaning: 'Their table of contents was broken; a repaired copy is sent, your file stays as it is.',
  },
  long: {
    name: 'Asked in parts',
    meaning: 'Longer than one call takes: each part is a call of its own, and one more combines them.',
  },
  scanned: {
    name: 'Scanned, without text',
    meaning:
      'Claude reads the pictures of the pages; text-only templates and offline summaries can’t use them.',
  },
  'text-unreliable': {
    name: 'Text can’t be relied on',
    meaning: 'Many characters are unknown. Pictures of the pages are sent as well, unless only text is.',
  },
  'fields-unseen': {
    name: 'Form fields that may not be seen',
    meaning: 'Filled-in values without a picture of their own may be missing from the summary.',
  },
  attachments: {
    name: 'With attached files',
    meaning: 'Only the PDF itself is sent; files attached to it are not.',
  },
  'pages-uncertain': {
    name: 'Page count uncertain',
    meaning: 'Two ways to count the pages disagree, so the price may be off.',
  },
};

export const skipEn: Record<SkipReason, FoundWords> = {
  hidden: { name: 'Hidden', meaning: 'Hidden files and folders are not looked into.' },
  'other-kind': { name: 'Not a PDF', meaning: 'Only files ending in .pdf are taken.' },
  'link-loop': {
    name: 'Link in a circle or to nowhere',
    meaning: 'Following it would find nothing new.',
  },
  duplicate: {
    name: 'Same content as another file here',
    meaning: 'One of them is enough: the summary would be the same.',
  },
  unreadable: { name: 'Can’t be read', meaning: 'Make them readable for your user, then add them again.' },
  missing: { name: 'Does not exist', meaning: 'They were moved or removed before they could be read.' },
  'too-many': { name: 'More files than one drop takes', meaning: 'Add them in a second drop.' },
  'own-output': { name: 'Gistmill’s own data', meaning: 'Summaries are not summarized again.' },
  'not-a-file': { name: 'Not a file', meaning: 'Sockets, pipes and devices have no content to read.' },
  'name-not-text': {
    name: 'Name can’t be read',
    meaning: 'Their names are not valid text. Rename them, then add them again.',
  },
  'still-written': {
    name: 'Still being copied',
    meaning: 'They changed while they were read. Add them again when copying has ended.',
  },
};
