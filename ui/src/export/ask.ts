/** Opens the sheet that exports jobs. */
import type { App } from '../app/app.svelte';
import type { Selection } from '../backend/types/Selection';
import { t } from '../text/text.svelte';

/** `name` is what the file is called after: a batch, a document. */
export function askToExport(app: App, selection: Selection, jobs: number, name?: string): void {
  const usual = selection.select === 'jobs' ? t.exports.nameSelection : t.exports.nameAll;
  const batch = app.overview.batches.find((each) => each.batchId === app.batchId)?.name;
  const called = name ?? (selection.select === 'matching' && app.screen === 'queue' ? batch : undefined);
  app.actions.exporting = { selection, jobs, name: fileNameOf(called ?? usual) };
}

/** A name that every file system takes. */
export function fileNameOf(name: string): string {
  const bare = name
    .replace(/\.pdf$/i, '')
    .replace(/[\\/:*?"<>|\p{Cc}]+/gu, '-')
    .replace(/^[\s.]+|[\s.]+$/g, '');
  return Array.from(bare).slice(0, 80).join('') || t.exports.nameAll;
}
