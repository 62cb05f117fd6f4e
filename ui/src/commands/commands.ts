/** Everything that can be done from where the window is, in the order in which it is listed. */
import type { App } from '../app/app.svelte';
import { commandKey } from '../app/keys';
import { EVERY_JOB } from '../backend/backend';
import { askToExport } from '../export/ask';
import { copyDiagnostics } from '../settings/diagnostics';
import { settingsPanes } from '../settings/panes';
import { VIEWS } from '../sidebar/views';
import { t } from '../text/text.svelte';
import type { Command } from './command';
import { selectedCommands } from './selected';

export function commandsOf(app: App): Command[] {
  return [
    ...selectedCommands(app),
    ...jobCommands(app),
    ...viewCommands(app),
    ...laneCommands(app),
    ...batchCommands(app),
    ...templateCommands(app),
    ...settingsCommands(app),
    ...windowCommands(app),
  ];
}

function jobCommands(app: App): Command[] {
  const group = 'jobs' as const;
  const { deadLetters } = app.overview.counts;
  const listed = app.screen === 'queue' && app.shown !== 'dead-letters' ? app.jobs.total : 0;
  return [
    {
      id: 'add-files',
      group,
      label: t.commands.addFiles,
      icon: 'plus',
      key: `${commandKey} O`,
      act: () => void app.addFiles(),
    },
    { id: 'add-folder', group, label: t.commands.addFolder, icon: 'folder', act: () => void app.addFolder() },
    {
      id: 'new-prompt',
      group,
      label: `${t.toolbar.newPrompt}…`,
      icon: 'template',
      act: () => (app.promptOpen = true),
    },
    { id: 'search', group, label: t.commands.search, icon: 'search', key: '/', act: () => search(app) },
    {
      id: 'run-dead',
      group,
      label: t.commands.runDead,
      icon: 'retry',
      why: deadLetters === 0 && t.commands.why.nothingFailed,
      act: () =>
        (app.actions.again = {
          selection: { select: 'matching', filter: { ...EVERY_JOB, shown: 'dead-letters' } },
          jobs: deadLetters,
          changes: {},
        }),
    },
    {
      id: 'export-all',
      group,
      label: t.commands.exportAll,
      icon: 'export',
      why: listed === 0 && t.commands.why.nothingListed,
      act: () => askToExport(app, { select: 'matching', filter: app.jobs.filter }, listed),
    },
    {
      id: 'clear-filters',
      group,
      label: t.commands.clearFilters,
      icon: 'filter',
      why: !app.filtered && t.commands.why.noFilter,
      act: () => app.clearFilters(),
    },
    {
      id: 'undo',
      group,
      label: t.commands.undo,
      icon: 'left',
      key: `${commandKey} Z`,
      why: !app.toasts.list.some((toast) => toast.undo !== null) && t.commands.why.nothingToUndo,
      act: () => void app.toasts.undoLast(),
    },
  ];
}

/** The search belongs to the list, so that is shown first. */
function search(app: App): void {
  if (app.screen !== 'queue') app.show(app.shown);
  requestAnimationFrame(() => document.querySelector<HTMLInputElement>('[data-search]')?.focus());
}

function viewCommands(app: App): Command[] {
  return VIEWS.map((view, at) => ({
    id: `view-${view.shown}`,
    group: 'views',
    label: t.commands.view(t.view[view.shown]),
    icon: view.icon,
    key: String(at + 1),
    act: () => app.show(view.shown),
  }));
}

function laneCommands(app: App): Command[] {
  const group = 'lanes' as const;
  const { lanes } = app.overview;
  const pause = (paused: boolean): void => {
    for (const lane of lanes.filter((each) => each.paused !== paused)) {
      void app.pauseLane(lane.queue, paused);
    }
  };
  return [
    ...lanes.map((lane): Command => ({
      id: `lane-${lane.queue}`,
      group,
      label: lane.paused ? t.lane.resume(t.lane[lane.queue]) : t.lane.pause(t.lane[lane.queue]),
      icon: lane.paused ? 'play' : 'pause',
      act: () => void app.pauseLane(lane.queue, !lane.paused),
    })),
    {
      id: 'pause-both',
      group,
      label: t.commands.pauseBoth,
      icon: 'pause',
      why: lanes.every((lane) => lane.paused) && t.commands.why.current,
      act: () => pause(true),
    },
    {
      id: 'resume-both',
      group,
      label: t.commands.resumeBoth,
      icon: 'play',
      why: lanes.every((lane) => !lane.paused) && t.commands.why.current,
      act: () => pause(false),
    },
  ];
}

function batchCommands(app: App): Command[] {
  const group = 'batches' as const;
  return app.overview.batches.flatMap((batch): Command[] => {
    const { batchId, name, counts, paused } = batch;
    const commands: Command[] = [
      {
        id: `batch-${batchId}`,
        group,
        label: t.commands.batch(name),
        icon: 'all',
        act: () => app.showIn(batchId, 'all'),
      },
      {
        id: `report-${batchId}`,
        group,
        label: t.report.of(name),
        icon: 'report',
        act: () => app.openReport(batchId),
      },
      {
        id: `export-${batchId}`,
        group,
        label: t.commands.batchExport(name),
        icon: 'export',
        act: () =>
          askToExport(app, { select: 'matching', filter: { ...EVERY_JOB, batchId } }, counts.total, name),
      },
    ];
    if (counts.waiting + counts.running === 0) return commands;
    commands.push(
      {
        id: `pause-${batchId}`,
        group,
        label: paused ? t.actions.batch.resume(name) : t.actions.batch.pause(name),
        icon: paused ? 'play' : 'pause',
        act: () => void app.actions.pauseBatch(batchId, !paused),
      },
      {
        id: `cap-${batchId}`,
        group,
        label: t.commands.batchCap(name),
        icon: 'card',
        act: () => (app.actions.capOf = batchId),
      },
    );
    return commands;
  });
}

function templateCommands(app: App): Command[] {
  const group = 'templates' as const;
  return [
    {
      id: 'new-template',
      group,
      label: t.commands.newTemplate,
      icon: 'plus',
      act: () => app.openTemplate(null),
    },
    ...app.templates.map((template): Command => ({
      id: `template-${template.templateId}`,
      group,
      label: t.commands.template(template.name),
      icon: 'template',
      act: () => app.openTemplate(template),
    })),
  ];
}

function settingsCommands(app: App): Command[] {
  const group = 'settings' as const;
  const { settings } = app;
  const themes = [
    ['system', t.settings.themeSystem],
    ['light', t.settings.themeLight],
    ['dark', t.settings.themeDark],
  ] as const;
  const languages = [
    ['system', t.settings.languageSystem],
    ['en', t.settings.languageEn],
    ['ja', t.settings.languageJa],
  ] as const;
  const providers = [
    ['claude', t.add.claude],
    ['offline', t.add.offline],
  ] as const;
  return [
    ...settingsPanes().map(({ pane, icon, name }): Command => ({
      id: `settings-${pane}`,
      group,
      label: t.commands.setting(name),
      icon,
      act: () => app.openSettings(pane),
    })),
    ...themes.map(([theme, name]): Command => ({
      id: `theme-${theme}`,
      group,
      label: t.commands.themeIs(name),
      icon: 'contrast',
      why: settings.theme === theme && t.commands.why.current,
      act: () => void app.saveSettings({ theme }),
    })),
    ...languages.map(([language, name]): Command => ({
      id: `language-${language}`,
      group,
      label: t.commands.languageIs(name),
      icon: 'globe',
      why: settings.language === language && t.commands.why.current,
      act: () => void app.saveSettings({ language }),
    })),
    ...providers.map(([provider, name]): Command => ({
      id: `provider-${provider}`,
      group,
      label: t.commands.provider(name),
      icon: provider === 'offline' ? 'offline' : 'key',
      why: settings.provider === provider && t.commands.why.current,
      act: () => void app.saveSettings({ provider }),
    })),
  ];
}

function windowCommands(app: App): Command[] {
  const group = 'window' as const;
  return [
    { id: 'keys', group, label: t.keys.title, icon: 'info', key: '?', act: () => (app.keysOpen = true) },
    {
      id: 'diagnostics',
      group,
      label: t.commands.diagnostics,
      icon: 'copy',
      act: () => void copyDiagnostics(app),
    },
  ];
}
