/** What can be done with one job: the same entries in its row and beside its summary. */
import type { App } from '../app/app.svelte';
import { copyText } from '../app/copy';
import type { MenuItem } from '../components/menu';
import type { JobView } from '../backend/types/JobView';
import type { ResultView } from '../backend/types/ResultView';
import { canRunAgain, canRunNow } from '../queue/status';
import { askToExport } from '../export/ask';
import { t } from '../text/text.svelte';
import { fits } from './fits';

export function openPath(app: App, path: string): void {
  void app.toasts.attempt(() => app.backend.openPath(path));
}

export async function copySummary(app: App, markdown: string): Promise<void> {
  if (await copyText(markdown)) app.toasts.done(t.common.copied);
}

/** A template's name as shown; one that is not listed any more keeps its id. */
export function templateName(app: App, template: string): string {
  return app.templates.find((each) => each.template === template)?.name ?? template;
}

/** The entries of a job's menu; the ones for its summary need the summary. */
export function jobMenu(app: App, job: JobView, result: ResultView | null = null): MenuItem[] {
  const groups = [turnItems(app, job), againItems(app, job), fileItems(app, job, result), endItems(app, job)];
  return groups
    .filter((group) => group.length > 0)
    .flatMap((group, index) =>
      group.map((item, at) => (index > 0 && at === 0 ? { ...item, separated: true } : item)),
    );
}

/** When it is its turn. */
function turnItems(app: App, job: JobView): MenuItem[] {
  const items: MenuItem[] = [];
  if (job.status !== 'pending') return items;
  const { actions } = app;
  if (canRunNow(job)) {
    items.push({
      id: 'run-now',
      icon: 'play',
      key: 'N',
      label: t.actions.runNow,
      act: () => void actions.on([job], { action: 'run-now' }),
    });
  }
  const action = job.paused ? 'resume' : 'pause';
  items.push({
    id: action,
    icon: job.paused ? 'play' : 'pause',
    key: 'Space',
    label: t.actions[action],
    act: () => void actions.on([job], { action }),
  });
  const places: ['top' | 'up' | 'down' | 'bottom', string, string | undefined][] = [
    ['top', t.actions.moveTop, undefined],
    ['up', t.actions.moveUp, 'Alt ↑'],
    ['down', t.actions.moveDown, 'Alt ↓'],
    ['bottom', t.actions.moveBottom, undefined],
  ];
  for (const [place, label, key] of places) {
    items.push({
      id: place,
      icon: place === 'top' || place === 'up' ? 'up' : 'down',
      label,
      ...(key === undefined ? {} : { key }),
      separated: place === 'top',
      act: () => void actions.move(job, place),
    });
  }
  const queue = job.queue === 'high' ? 'bulk' : 'high';
  items.push({
    id: 'lane',
    icon: queue,
    key: queue === 'high' ? 'H' : 'B',
    label: t.actions.moveTo(t.lane[queue]),
    act: () => void actions.on([job], { action: 'move-to', queue }),
  });
  return items;
}

function againItems(app: App, job: JobView): MenuItem[] {
  const selection = { select: 'jobs' as const, jobIds: [job.jobId] };
  if (job.status === 'completed') {
    return [
      {
        id: 'again',
        icon: 'retry',
        key: 'R',
        label: t.results.askAgain,
        act: () => app.actions.askToRunDone(selection, 1),
      },
    ];
  }
  if (!canRunAgain(job)) return [];
  return [
    {
      id: 'again',
      icon: 'retry',
      key: 'R',
      label: t.detail.runAgain,
      act: () => void app.actions.runAgain(selection),
    },
    {
      id: 'again-with',
      icon: 'sliders',
      key: 'Shift R',
      label: t.actions.runAgainWith,
      act: () => (app.actions.again = { selection, jobs: 1, changes: {} }),
    },
  ];
}

function fileItems(app: App, job: JobView, result: ResultView | null): MenuItem[] {
  const items: MenuItem[] = [];
  if (result) {
    items.push(
      {
        id: 'copy',
        icon: 'copy',
        label: t.detail.copySummary,
        act: () => void copySummary(app, result.markdown),
      },
      {
        id: 'open',
        icon: 'file',
        label: t.detail.openSummary,
        act: () => openPath(app, result.copyPath ?? result.path),
      },
    );
  }
  if (job.status === 'completed' || job.status === 'needs-review') {
    items.push({
      id: 'export',
      icon: 'export',
      label: t.exports.job,
      act: () => askToExport(app, { select: 'jobs', jobIds: [job.jobId] }, 1, job.title),
    });
  }
  const shownPath = job.sourcePath ?? result?.path;
  if (shownPath) {
    items.push({
      id: 'reveal',
      icon: 'folder',
      label: t.common.showInFolder,
      act: () => void app.toasts.attempt(() => app.backend.revealPath(shownPath)),
    });
  }
  return items;
}

function endItems(app: App, job: JobView): MenuItem[] {
  const items: MenuItem[] = [];
  if (fits(job, { action: 'cancel' })) {
    items.push({
      id: 'cancel',
      icon: 'x',
      key: 'Del',
      label: t.detail.cancelJob,
      danger: true,
      act: () => void app.actions.on([job], { action: 'cancel' }),
    });
  }
  if (fits(job, { action: 'purge' })) {
    items.push({
      id: 'purge',
      icon: 'trash',
      label: t.actions.purge,
      danger: true,
      act: () => void app.actions.on([job], { action: 'purge' }),
    });
  }
  return items;
}
