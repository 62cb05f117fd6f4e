/** The button that removes a cause: it leads to a setting, or runs the jobs again with the change that helps. */
import type { App } from '../app/app.svelte';
import type { Cause } from '../backend/types/Cause';
import type { Fix } from '../backend/types/Fix';
import type { RetryChanges } from '../backend/types/RetryChanges';
import type { Selection } from '../backend/types/Selection';
import { MOST_TOKENS } from '../actions/retry.svelte';
import { isAnthropic } from '../endpoint/presets';
import { goingOf } from '../queue/way';
import { t } from '../text/text.svelte';

const CONSOLE = 'https://console.anthropic.com/';

export interface FixButton {
  label: string;
  /** Whether nothing else helps, so that running again as it is is no way out. */
  only?: boolean;
  act: () => void;
}

/** What is changed from the start when a group is run again. */
export function changesFor(app: App, group: { fix: Fix }): Partial<RetryChanges> {
  switch (group.fix) {
    case 'raise-output-limit':
      return { maxTokens: Math.min(app.settings.maxTokens * 2, MOST_TOKENS) };
    case 'use-claude':
      return { provider: 'claude' };
    default:
      return {};
  }
}

/** What else helps the jobs of `selection`; `null` where running again is all there is. */
export function fixButton(
  app: App,
  group: { fix: Fix; cause: Cause; jobs: number },
  selection: Selection,
): FixButton | null {
  // What is too large to be sent as it is may do as text.
  if (group.cause === 'files-not-taken') {
    return isAnthropic(app.endpoint) ? null : sendText(app, group.jobs, selection);
  }
  const settings = (label: string): FixButton => ({ label, act: () => app.openSettings('models') });
  switch (group.fix) {
    case 'give-password':
      return {
        label: t.passwords.enter,
        only: true,
        act: () => (app.actions.unlocking = { selection, jobs: group.jobs }),
      };
    case 'add-key':
      return settings(t.answer.addKey);
    case 'test-key':
      return settings(t.answer.testKey);
    case 'choose-model':
      return otherModel(app, group.jobs, selection);
    case 'change-delivery':
      return {
        label: t.deadLetters.callEach(group.jobs),
        only: true,
        act: () => (app.actions.again = { selection, jobs: group.jobs, changes: goingOf('bulk') }),
      };
    case 'send-text':
      return isAnthropic(app.endpoint)
        ? otherModel(app, group.jobs, selection)
        : sendText(app, group.jobs, selection);
    case 'open-console':
      return {
        label: t.deadLetters.console,
        act: () => void app.toasts.attempt(() => app.backend.openUrl(CONSOLE)),
      };
    case 'check-connection':
    case 'free-space':
      return {
        label: t.answer.checkNow,
        act: () =>
          void app.toasts.attempt(async () => {
            await app.backend.closeCircuit('claude');
            app.refreshAll();
          }),
      };
    default:
      return null;
  }
}

/** Has text sent from now on, which can be undone, and opens the sheet that says what running again costs. */
function sendText(app: App, jobs: number, selection: Selection): FixButton {
  const before = app.endpoint.textOnly;
  return {
    label: before ? t.deadLetters.runAsText(jobs) : t.deadLetters.sendText(jobs),
    only: true,
    act: () =>
      void app.toasts.attempt(async () => {
        if (!before && (await app.saveSettings({ textOnly: true }))) {
          app.toasts.done(t.deadLetters.textFromNow, async () => {
            await app.saveSettings({ textOnly: false });
          });
        }
        app.actions.again = { selection, jobs, changes: {} };
      }),
  };
}

/** Opens the sheet with the model that takes the place of the jobs' own, else with that of new jobs. */
function otherModel(app: App, jobs: number, selection: Selection): FixButton {
  const { backend } = app;
  return {
    label: t.deadLetters.otherModel(jobs),
    only: true,
    act: () =>
      void app.toasts.attempt(async () => {
        const page = selection.select === 'matching' ? await backend.jobs(selection.filter, null, 1) : null;
        const asked = page?.jobs[0]?.model ?? app.settings.model;
        const [profile] = await backend.modelProfiles([asked]);
        const present = app.settings.model === asked ? null : app.settings.model;
        const model = profile?.successor ?? present;
        app.actions.again = { selection, jobs, changes: { model } };
      }),
  };
}
