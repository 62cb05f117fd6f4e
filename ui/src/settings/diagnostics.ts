/**
 * What helps to find a defect, as text: versions, sizes, settings, what holds jobs back. No key, no address, no name of
 * a file, batch or template, and no text of a document is in it.
 */
import type { App } from '../app/app.svelte';
import { copyText } from '../app/copy';
import type { About } from '../backend/types/About';
import type { Settings } from '../backend/types/Settings';
import { language, t } from '../text/text.svelte';

/** Settings that name a place or a person's own choice of words: only whether they are set is told. */
const PRIVATE: (keyof Settings)[] = ['baseUrl', 'caFile', 'outputFolder', 'bucket', 'webhookUrl'];

export function diagnosticsOf(app: App, about: About, now: Date): string {
  const { overview, settings } = app;
  const told = Object.entries(settings).map(([name, value]) => {
    if (!PRIVATE.includes(name as keyof Settings)) return [name, value];
    return [name, value === null ? null : 'set'];
  });
  const { counts, lanes, circuits, consumer, budget, uploads, key } = overview;
  const parts: [string, unknown][] = [
    ['version', about.version],
    ['system', about.system],
    ['webView', navigator.userAgent],
    ['sqlite', about.sqliteVersion],
    ['at', now.toISOString()],
    ['language', language()],
    ['window', `${window.innerWidth}x${window.innerHeight} at ${window.devicePixelRatio}`],
    ['databaseBytes', about.databaseBytes],
    ['results', about.results],
    ['resultsBytes', about.resultsBytes],
    ['consumer', consumer],
    ['key', key.source],
    ['keychain', key.keychainProblem === null ? 'works' : 'does not work'],
    ['endpoint', app.endpoint.kind],
    ['jobs', counts],
    ['batches', overview.batches.length],
    ['templates', app.templates.length],
    [
      'lanes',
      lanes.map(({ queue, paused, waiting, running, settings: lane, obstacle }) => ({
        queue,
        paused,
        waiting,
        running,
        settings: lane,
        obstacle: obstacle?.reason ?? null,
      })),
    ],
    ['stopped', circuits.map(({ provider, cause, openedAt }) => ({ provider, cause, openedAt }))],
    ['storage', overview.storageProblem?.code ?? null],
    ['budget', budget],
    [
      'uploads',
      { waiting: uploads.waiting, failed: uploads.failed, trouble: uploads.trouble?.cause ?? null },
    ],
    ['settings', Object.fromEntries(told)],
  ];
  return JSON.stringify({ gistmill: Object.fromEntries(parts) }, null, 2);
}

/** Copies them, and says so. */
export function copyDiagnostics(app: App): Promise<boolean> {
  return app.toasts.attempt(async () => {
    const text = diagnosticsOf(app, await app.backend.about(), new Date());
    if (await copyText(text)) app.toasts.done(t.settings.diagnosticsCopied);
    else app.toasts.failed(t.settings.diagnosticsNot, t.settings.diagnosticsNotHint);
  });
}
