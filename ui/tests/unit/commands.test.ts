/** Any command is found by its words, in either language, and what can't be done is not done. */
import { describe, expect, it, vi } from 'vitest';
import { App } from '../../src/app/app.svelte';
import { createBackend } from '../../src/backend/mock';
import { commandsOf } from '../../src/commands/commands';
import { findCommands } from '../../src/commands/find';
import { fit } from '../../src/commands/fuzzy';
import { diagnosticsOf } from '../../src/settings/diagnostics';
import { webView } from '../../src/settings/web-view';
import { speak } from '../../src/text/text.svelte';

async function started(query: string): Promise<App> {
  const app = new App(createBackend(new URLSearchParams(`freeze&${query}`)));
  await app.start();
  return app;
}

const labels = (app: App, query: string): string[] =>
  findCommands(app, query, []).flatMap((group) => group.commands.map((command) => command.label));

describe('words', () => {
  it('fit in any order, by their beginnings, parts, initials and letters', () => {
    expect(fit('high pause', 'Pause High')).toBeGreaterThan(0);
    expect(fit('pause', 'Pause High')).toBeGreaterThan(fit('aus', 'Pause High'));
    expect(fit('rap', 'Run again, please')).toBeGreaterThan(0);
    expect(fit('psue', 'Pause High')).toBe(0);
    expect(fit('pse', 'Pause High')).toBeGreaterThan(0);
    expect(fit('xyzzy', 'Pause High')).toBe(0);
  });

  it('do not care for case, width and accents', () => {
    expect(fit('ＰＤＦ', 'Add PDFs…')).toBeGreaterThan(0);
    expect(fit('resume', 'Résumé')).toBeGreaterThan(0);
    expect(fit('がか', 'がか')).toBeGreaterThan(0);
  });
});

describe('the list of commands', () => {
  it('names every command once, in both languages', async () => {
    const app = await started('lang=en');
    const ids = commandsOf(app).map((command) => command.id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThan(50);
  });

  it('finds by the words of the language that is not shown', async () => {
    const app = await started('lang=en');
    expect(labels(app, '書き出し')).toContain('Export what is listed…');
    speak('ja');
    expect(labels(app, 'export listed')[0]).toBe('一覧を書き出し…');
    speak('en');
  });

  it('finds batches, templates, panes, lanes and themes by name', async () => {
    const app = await started('lang=en');
    expect(labels(app, 'report incident')[0]).toBe('Report of Incident reports, Feb');
    expect(labels(app, 'lease abstract edit')[0]).toContain('Lease abstract');
    expect(labels(app, 'advanced')[0]).toBe('Settings: Advanced');
    expect(labels(app, 'pause bulk')[0]).toBe('Pause Bulk');
    expect(labels(app, 'dark')[0]).toBe('Appearance: Dark');
  });

  it('says why something can’t be done, and lists it last', async () => {
    const app = await started('lang=en&empty');
    const found = findCommands(app, 'run dead', []).flatMap((group) => group.commands);
    expect(found.find((command) => command.id === 'run-dead')?.why).toBe('Nothing failed');
    const both = findCommands(app, 'both lanes', []).flatMap((group) => group.commands);
    expect(both.map((command) => [command.id, Boolean(command.why)])).toEqual([
      ['pause-both', false],
      ['resume-both', true],
    ]);
  });

  it('begins with what was used last', async () => {
    const app = await started('lang=en');
    const [first] = findCommands(app, '', ['theme-dark', 'gone', 'settings-prices']);
    expect(first?.title).toBe('Recent');
    expect(first?.commands.map((command) => command.id)).toEqual(['theme-dark', 'settings-prices']);
  });

  it('has every action of many selected jobs', async () => {
    const app = await started('lang=en');
    app.jobs.selectEverything();
    const selected = commandsOf(app).filter((command) => command.group === 'selected');
    expect(selected.map((command) => command.label)).toContain('Pause 798 jobs');
    const ask = vi.spyOn(app.actions, 'onSelection').mockResolvedValue(true);
    selected.find((command) => command.label === 'Cancel 798 jobs')?.act();
    expect(ask).toHaveBeenCalledWith({ action: 'cancel' });
  });
});

describe('diagnostics', () => {
  it('tell versions and what holds jobs back, and nothing private', async () => {
    const app = await started(
      'lang=en&webhook=ok&bucket=ok&baseUrl=https://gateway.example.com&headers=x-team&ca&dayCap=14',
    );
    const text = diagnosticsOf(app, await app.backend.about(), new Date(0));
    const told = JSON.parse(text) as { gistmill: Record<string, unknown> };
    expect(told.gistmill['version']).toBe('1.0.0');
    expect(JSON.stringify(told.gistmill['lanes'])).toContain('spend-cap');
    for (const secret of ['example', '/home', '.pem', '7Q2f', 'mika', 'Soil carbon', 'x-team']) {
      expect(text, `${secret} is nobody else’s business`).not.toContain(secret);
    }
    for (const batch of app.overview.batches) expect(text).not.toContain(batch.name);
  });

  it('name the web view', () => {
    expect(webView('Mozilla/5.0 (X11) AppleWebKit/605.1.15 (KHTML, like Gecko) Safari/605.1.15')).toBe(
      'WebKit 605.1.15',
    );
    expect(webView('Mozilla/5.0 AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36 Edg/140.0.1.2')).toBe(
      'WebView2 140.0.1.2',
    );
    expect(webView('something else')).toBe('something else');
  });
});
