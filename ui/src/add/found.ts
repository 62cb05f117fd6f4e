/** What a scan found besides plain good files, grouped by reason and worded. */
import { groupBy } from '../app/group';
import { causeLook } from '../dead-letters/cause-looks';
import type { IconName } from '../components/icons';
import type { Cause } from '../backend/types/Cause';
import type { Notice } from '../backend/types/Notice';
import type { ScannedFile } from '../backend/types/ScannedFile';
import type { SkippedPath } from '../backend/types/SkippedPath';
import type { SkipReason } from '../backend/types/SkipReason';
import type { Look } from '../queue/status';
import { joined } from '../text/join';
import { t } from '../text/text.svelte';

export interface Found {
  id: string;
  icon: IconName;
  look: Look;
  name: string;
  /** What it means, and what to do about it. */
  note: string;
  /** Files or other paths, each with what was found where that says more than the group. */
  entries: { path: string; note: string }[];
}

export const isLocked = (file: ScannedFile): boolean => file.document.finding?.cause === 'pdf-encrypted';

/** The largest group first, as dead letters have it; one that a password opens before all others. */
export function faultyGroups(files: ScannedFile[]): Found[] {
  const byCause = groupBy(files, (file): Cause => file.document.finding?.cause ?? 'file-unreadable');
  const groups = [...byCause].map(([cause, group]) => ({
    id: cause,
    ...causeLook(cause),
    name: t.cause[cause].name,
    note: joined(t.cause[cause].meaning, cause !== 'pdf-encrypted' && t.cause[cause].hint),
    entries: group.map((file) => ({ path: file.path, note: file.document.finding?.message ?? '' })),
  }));
  const order = (group: Found): number => (group.id === 'pdf-encrypted' ? Infinity : group.entries.length);
  return groups.sort((one, other) => order(other) - order(one));
}

/** From what changes the price or the summary to what is merely so. */
const NOTICES: Record<Notice, IconName> = {
  long: 'longdoc',
  scanned: 'file',
  'text-unreliable': 'review',
  'fields-unseen': 'review',
  attachments: 'file',
  'pages-uncertain': 'unknown',
  repaired: 'wrench',
  unlocked: 'key',
  decrypted: 'lock',
};

export function noticeGroups(files: ScannedFile[]): Found[] {
  const byNotice = groupBy(
    files.flatMap((file) => file.notices.map((notice) => ({ notice, file }))),
    ({ notice }) => notice,
  );
  return (Object.keys(NOTICES) as Notice[]).flatMap((notice) => {
    const group = byNotice.get(notice);
    if (!group) return [];
    return {
      id: notice,
      icon: NOTICES[notice],
      look: 'idle' as const,
      name: t.notice[notice].name,
      note: t.notice[notice].meaning,
      entries: group.map(({ file }) => ({
        path: file.path,
        note: file.document.pages === null ? '' : t.common.pages(file.document.pages),
      })),
    };
  });
}

const SKIP_ICONS: Record<SkipReason, IconName> = {
  hidden: 'cancelled',
  'other-kind': 'cancelled',
  'link-loop': 'retry',
  duplicate: 'copy',
  unreadable: 'lock',
  missing: 'unknown',
  'too-many': 'all',
  'own-output': 'folder',
  'not-a-file': 'cancelled',
  'still-written': 'timer',
};

export function skippedGroups(skipped: SkippedPath[]): Found[] {
  const byReason = groupBy(skipped, (each) => each.reason);
  return [...byReason].map(([reason, group]) => ({
    id: reason,
    icon: SKIP_ICONS[reason],
    look: 'idle' as const,
    name: t.skip[reason].name,
    note: t.skip[reason].meaning,
    entries: group.map(({ path, sameAs }) => ({ path, note: sameAs === null ? '' : same(path, sameAs) })),
  }));
}

function same(path: string, sameAs: string): string {
  return path === sameAs ? t.found.givenTwice : t.found.sameAs(seenFrom(path, sameAs));
}

/** A path without the folders that it shares with another one. */
export function seenFrom(path: string, other: string): string {
  let shared = 0;
  for (let at = 0; at < other.length && other[at] === path[at]; at += 1)
    if (other[at] === '/' || other[at] === '\\') shared = at + 1;
  return other.slice(shared);
}
