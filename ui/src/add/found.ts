/** What a scan found besides plain good files, grouped by reason and worded. */
import { groupBy } from '../app/group';
import { causeLook } from '../dead-letters/cause-looks';
import type { IconName } from '../components/icons';
import type { Cause } from '../backend/types/Cause';
import type { Finding } from '../backend/types/Finding';
import type { Notice } from '../backend/types/Notice';
import type { ScannedFile } from '../backend/types/ScannedFile';
import type { ScanReport } from '../backend/types/ScanReport';
import type { SkippedPath } from '../backend/types/SkippedPath';
import type { SkipReason } from '../backend/types/SkipReason';
import type { SubmissionPlan } from '../backend/types/SubmissionPlan';
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
  entries: FoundEntry[];
}

export interface FoundEntry {
  path: string;
  /** The path without what all have in common. */
  shown: string;
  /** What was found, where that says more than the group. */
  note: string;
}

/** A file that can't be sent, and why. */
export interface Faulty {
  path: string;
  finding: Finding;
}

/** The files that can't be sent at all, and those that can't be as it is asked now. */
export function faultyFiles(report: ScanReport, plan: SubmissionPlan | null): Faulty[] {
  const found = report.files.flatMap(({ path, document: { finding } }) =>
    finding === null ? [] : [{ path, finding }],
  );
  return [...found, ...(plan?.refused ?? [])];
}

export const isLocked = ({ finding }: Faulty): boolean => finding.cause === 'pdf-encrypted';

/** The largest group first, as dead letters have it; one that a password opens before all others. */
export function faultyGroups(files: Faulty[], root: string): Found[] {
  const byCause = groupBy(files, ({ finding }): Cause => finding.cause);
  const groups = [...byCause].map(([cause, group]) => ({
    id: cause,
    ...causeLook(cause),
    name: t.cause[cause].name,
    note: joined(t.cause[cause].meaning, cause !== 'pdf-encrypted' && t.cause[cause].hint),
    entries: group.map(({ path, finding }) => entry(path, root, finding.message)),
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

export function noticeGroups(files: ScannedFile[], root: string): Found[] {
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
      entries: group.map(({ file }) =>
        entry(file.path, root, file.document.pages === null ? '' : t.common.pages(file.document.pages)),
      ),
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
  'name-not-text': 'unknown',
  'still-written': 'timer',
};

export function skippedGroups(skipped: SkippedPath[], root: string): Found[] {
  const byReason = groupBy(skipped, (each) => each.reason);
  return [...byReason].map(([reason, group]) => ({
    id: reason,
    icon: SKIP_ICONS[reason],
    look: 'idle' as const,
    name: t.skip[reason].name,
    note: t.skip[reason].meaning,
    entries: group.map(({ path, sameAs }) =>
      entry(path, root, sameAs === null ? '' : same(path, sameAs, root)),
    ),
  }));
}

function entry(path: string, root: string, note: string): FoundEntry {
  return { path, shown: path.slice(root.length), note };
}

function same(path: string, sameAs: string, root: string): string {
  if (path === sameAs) return t.found.givenTwice;
  return t.found.sameAs(sameAs.startsWith(root) ? sameAs.slice(root.length) : sameAs);
}

/** The folder that all paths lie in, with its separator; it need not be said of each. */
export function sharedFolder(paths: string[]): string {
  const [first = '', ...others] = paths;
  let length = folderEnd(first, first.length);
  for (const path of others) {
    while (length > 0 && !path.startsWith(first.slice(0, length))) length = folderEnd(first, length - 1);
    if (length === 0) break;
  }
  return first.slice(0, length);
}

/** Where the last folder before `end` ends, its separator included; 0 where there is none. */
function folderEnd(path: string, end: number): number {
  const before = path.slice(0, end);
  return Math.max(before.lastIndexOf('/'), before.lastIndexOf('\\')) + 1;
}
