/** The panes of the settings in their order. */
import type { SettingsPane } from '../app/app.svelte';
import type { IconName } from '../components/icons';
import { t } from '../text/text.svelte';

export function settingsPanes(): { pane: SettingsPane; icon: IconName; name: string }[] {
  return [
    { pane: 'general', icon: 'nut', name: t.settings.general },
    { pane: 'models', icon: 'key', name: t.settings.models },
    { pane: 'limits', icon: 'sliders', name: t.settings.limits },
    { pane: 'lanes', icon: 'bulk', name: t.settings.lanes },
    { pane: 'prices', icon: 'card', name: t.settings.prices },
    { pane: 'templates', icon: 'template', name: t.templates.title },
    { pane: 'storage', icon: 'db', name: t.storage.title },
    { pane: 'notify', icon: 'bell', name: t.settings.notify },
    { pane: 'advanced', icon: 'wrench', name: t.settings.advanced },
  ];
}
