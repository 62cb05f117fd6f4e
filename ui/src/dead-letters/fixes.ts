/** The button that removes a cause: it leads to a setting, or runs the jobs again with the change that helps. */
import type { App } from '../app/app.svelte';
import type { Fix } from '../backend/types/Fix';
import type { RetryChanges } from '../backend/types/RetryChanges';
import type { Selection } from '../backend/types/Selection';
import { MOST_TOKENS } from '../actions/retry.svelte';
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
  group: { fix: Fix; jobs: number },
  selection: Selection,
): FixButton | null {
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
      return settings(t.answer.changeModel);
    case 'send-text':
    case 'change-delivery':
      return settings(t.sidebar.settings);
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
