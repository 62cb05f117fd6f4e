/** What a scan found besides good files, grouped by reason and worded. */
import { groupBy } from '../app/group';
import { causeLook } from '../dead-letters/cause-looks';
import type { IconName } from '../components/icons';
import type { Cause } from '../backend/types/Cause';
import type { ScannedFile } from '../backend/types/ScannedFile';
import type { SkippedPath } from '../backend/types/SkippedPath';
import type { SkipReason } from '../backend/types/SkipReason';
import type { Look } from '../queue/status';
import { t } from '../text/text.svelte';

export interface Found {
  id: string;
  icon: IconName;
  look: Look;
  name: string;
  note: string;
  /** File names or paths, each with what was found where that says more than the group. */
  entries: { path: string; note: string }[];
}

export function faultyGroups(files: ScannedFile[]): Found[] {
  const byCause = groupBy(files, (file): Cause => file.document.finding?.cause ?? 'file-unreadable');
  return [...byCause].map(([cause, group]) => ({
    id: cause,
    ...causeLook(cause),
    name: t.cause[cause].name,
    note: t.cause[cause].hint,
    entries: group.map((file) => ({ path: file.path, note: file.document.finding?.message ?? '' })),
  }));
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
};

export function skippedGroups(skipped: SkippedPath[]): Found[] {
  const byReason = groupBy(skipped, (each) => each.reason);
  return [...byReason].map(([reason, group]) => ({
    id: reason,
    icon: SKIP_ICONS[reason],
    look: 'idle' as const,
    name: t.skip[reason],
    note: '',
    entries: group.map((each) => ({ path: each.path, note: '' })),
  }));
}
