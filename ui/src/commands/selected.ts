/** What can be done with the jobs that are selected in the table: the entries of their menu. */
import type { App } from '../app/app.svelte';
import { jobMenu } from '../actions/job-menu';
import { wordAction } from '../actions/words';
import { askToExport } from '../export/ask';
import { askToRunAgain } from '../queue/letters';
import type { BulkAction } from '../backend/types/BulkAction';
import type { IconName } from '../components/icons';
import { t } from '../text/text.svelte';
import type { Command } from './command';

const ACTIONS: [BulkAction, IconName, string?][] = [
  [{ action: 'run-now' }, 'play', 'N'],
  [{ action: 'pause' }, 'pause', 'Space'],
  [{ action: 'resume' }, 'play', 'Space'],
  [{ action: 'move-to', queue: 'high' }, 'high', 'H'],
  [{ action: 'move-to', queue: 'bulk' }, 'bulk', 'B'],
  [{ action: 'cancel' }, 'x', 'Del'],
  [{ action: 'purge' }, 'trash'],
];

export function selectedCommands(app: App): Command[] {
  if (app.screen !== 'queue' || app.shown === 'dead-letters') return [];
  const { jobs, actions } = app;
  const count = jobs.selectedCount;
  if (count > 1 || jobs.everything) {
    return [
      ...ACTIONS.map(([action, icon, key]): Command => ({
        id: `selected-${action.action}-${'queue' in action ? action.queue : ''}`,
        group: 'selected',
        label: wordAction(action, count),
        icon,
        ...(key === undefined ? {} : { key }),
        act: () => void actions.onSelection(action),
      })),
      {
        id: 'selected-again-with',
        group: 'selected',
        label: t.actions.runAgainWith,
        icon: 'sliders',
        key: 'Shift R',
        act: () => askToRunAgain(app),
      },
      {
        id: 'selected-export',
        group: 'selected',
        label: t.exports.selection(count),
        icon: 'export',
        act: () => askToExport(app, jobs.chosen, count),
      },
    ];
  }
  const job = jobs.rows[jobs.focusedIndex];
  if (!job) return [];
  return [
    {
      id: 'job-read',
      group: 'selected',
      label: t.detail.read,
      icon: 'show',
      key: 'Enter',
      act: () => app.openReader(job.jobId),
    },
    ...jobMenu(app, job).map((item): Command => ({
      id: `job-${item.id}`,
      group: 'selected',
      label: item.label,
      icon: item.icon ?? 'right',
      ...(item.key === undefined ? {} : { key: item.key }),
      act: item.act,
    })),
  ];
}
