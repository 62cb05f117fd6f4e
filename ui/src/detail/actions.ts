/** What can be done with the job that is looked at. */
import type { App } from '../app/app.svelte';
import { copyText } from '../app/copy';
import type { MenuItem } from '../components/menu';
import type { JobDetail } from '../backend/types/JobDetail';
import { canRunNow } from '../queue/status';
import { t } from '../text/text.svelte';

export function openPath(app: App, path: string): void {
  void app.toasts.attempt(() => app.backend.openPath(path));
}

export async function copySummary(app: App, markdown: string): Promise<void> {
  if (await copyText(markdown)) app.toasts.done(t.common.copied);
}

/** The entries under "More actions"; `askToCancel` is called instead of cancelling a call that may cost. */
export function moreActions(app: App, { job, result }: JobDetail, askToCancel: () => void): MenuItem[] {
  const items: MenuItem[] = [];
  if (canRunNow(job)) {
    items.push({
      id: 'run-now',
      icon: 'play',
      key: 'N',
      label: t.detail.runNow,
      act: () => void app.runNow([job.jobId]),
    });
  }
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
  const shownPath = job.sourcePath ?? result?.path;
  if (shownPath) {
    items.push({
      id: 'reveal',
      icon: 'folder',
      label: t.common.showInFolder,
      act: () => void app.toasts.attempt(() => app.backend.revealPath(shownPath)),
    });
  }
  if (job.status === 'pending' || job.status === 'running') {
    items.push({
      id: 'cancel',
      icon: 'x',
      key: 'Del',
      label: t.detail.cancelJob,
      danger: true,
      separated: true,
      act: () => (job.status === 'running' ? askToCancel() : void app.cancelJobs([job.jobId])),
    });
  }
  return items;
}

/** A template's name as shown; one that is not listed any more keeps its id. */
export function templateName(app: App, template: string): string {
  return app.templates.find((each) => each.template === template)?.name ?? template;
}
