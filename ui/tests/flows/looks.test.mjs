/** Both languages, both themes, and what assistive technology finds in them. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import { openBrowser, openWindow, servePages } from './harness.mjs';

let pages, browser, axe;
before(async () => {
  pages = await servePages();
  browser = await openBrowser();
  axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
});
after(async () => {
  await browser.close();
  await pages.close();
});

const DROP = { type: 'drop', paths: ['/home/mika/Documents/Grid reliability reports'], x: 1000, y: 300 };

const SCREENS = {
  welcome: { query: 'welcome' },
  'welcome with a local endpoint': { query: 'welcome&baseUrl=http://localhost:11434&model=llama3.3' },
  'welcome without a keychain': { query: 'welcome&key=no-keychain' },
  empty: { query: 'empty' },
  queue: {
    query: '',
    act: async (page) => {
      await page.getByTestId('job-row').filter({ hasText: 'biochar' }).click();
      await page.getByTestId('detail-summary').waitFor();
    },
  },
  'queue, stopped': { query: 'circuit=credit-exhausted' },
  'queue, paused': { query: 'paused=high,bulk' },
  'queue, needs review': { query: '', act: (page) => page.getByTestId('view-needs-review').click() },
  'queue, narrow': {
    query: '',
    act: (page) => page.getByTestId('job-row').first().click(),
    options: { viewport: { width: 900, height: 600 } },
  },
  'queue, half price': {
    query: 'halfPrice',
    act: async (page) => {
      await page.getByTestId('view-running').click();
      await page.locator('[data-status=submitted]').first().click();
      await page.getByTestId('remote').waitFor();
    },
  },
  'queue, half price and both lanes paused': { query: 'batchLane&paused=high,bulk' },
  'settings, lanes at half price': {
    query: 'batchLane&endpoint=litellm&baseUrl=http://localhost:4000',
    act: async (page) => {
      await page.getByTestId('settings-open').click();
      await page.locator('[data-pane=lanes]').click();
      await page.locator('.ds.wait').waitFor();
    },
  },
  'run again at half price': {
    query: 'dead=batches-not-offered',
    act: async (page) => {
      await page.getByTestId('view-dead-letters').click();
      await page.locator('.tool .btn').click();
      await page.getByTestId('dry-run').locator('hr').first().waitFor();
    },
  },
  'queue, cap reached': { query: 'dayCap=14' },
  'queue, disk full': { query: 'storage' },
  'queue, many selected': {
    query: '',
    act: async (page) => {
      await page.getByTestId('job-row').first().click();
      await page.keyboard.press('Shift+ArrowDown');
      await page.locator('.sel-rows').waitFor();
    },
  },
  'queue, narrow, many selected': {
    query: '',
    act: async (page) => {
      await page.getByTestId('job-row').first().click();
      await page.keyboard.press('Escape');
      await page.keyboard.press('Shift+ArrowDown');
      await page.locator('.sel-rows').waitFor();
    },
    options: { viewport: { width: 900, height: 600 } },
  },
  'menu of a row': {
    query: '',
    act: async (page) => {
      await page.getByTestId('job-row').filter({ hasText: 'hedgerow' }).click({ button: 'right' });
      await page.locator('[role=menu]').waitFor();
    },
  },
  'question before many': {
    query: '',
    act: async (page) => {
      await page.getByTestId('job-row').first().click();
      await page.keyboard.press('Control+a');
      await page.keyboard.press('Delete');
      await page.locator('dialog').waitFor();
    },
  },
  'run again with changes': {
    query: '',
    act: async (page) => {
      await page.getByTestId('view-dead-letters').click();
      await page.locator('.tool .btn').click();
      await page.getByTestId('dry-run').locator('hr').nth(1).waitFor();
    },
  },
  'a batch and its cap': {
    query: '',
    act: async (page) => {
      await page.locator('.bt').first().click();
      await page.getByTestId('batch-bar').locator('.btn').nth(2).click();
      await page.locator('dialog input').fill('nothing');
    },
  },
  ...Object.fromEntries(
    ['limits', 'lanes', 'prices', 'templates', 'storage', 'notify'].map((pane) => [
      `settings, ${pane}`,
      {
        query: 'hours=22-7&webhook=failing&model=claude-unpriced&bucket=waiting',
        act: async (page) => {
          await page.getByTestId('settings-open').click();
          await page.locator(`[data-pane=${pane}]`).click();
        },
      },
    ]),
  ),
  'settings, price': {
    query: '',
    act: async (page) => {
      await page.getByTestId('settings-open').click();
      await page.locator('.set-nav button').nth(4).click();
      await page.locator('[data-model=claude-sonnet-4-6] .ib').click();
      await page.locator('[role=menuitem]').first().click();
      await page.locator('dialog').waitFor();
    },
  },
  'settings, storage, a wrong secret': {
    query: 'bucket=failed',
    act: async (page) => {
      await page.getByTestId('settings-open').click();
      await page.locator('[data-pane=storage]').click();
      await page.locator('.bk-kept .btn').last().click();
      await page.locator('input[type=password]').fill('wrong');
      await page.locator('.bk-acts .btn').first().click();
      await page.locator('.result.bad').waitFor();
      await page.getByTestId('bucket-uploads').locator('.bk-more').click();
    },
  },
  'settings, template': {
    query: '',
    act: async (page) => {
      await page.getByTestId('settings-open').click();
      await page.locator('[data-pane=templates]').click();
      await page.locator('[data-template=lease-abstract] .tpl-open').click();
      await page.locator('.tpl-fields').waitFor();
    },
  },
  'export sheet': {
    query: '',
    act: async (page) => {
      await page.getByTestId('export-all').click();
      await page.locator('dialog').waitFor();
    },
  },
  'report of a batch': {
    query: '',
    act: async (page) => {
      await page.locator('.bt-report').last().click();
      await page.locator('.step').first().waitFor();
    },
  },
  'report of a batch, narrow, running': {
    query: '',
    act: async (page) => {
      await page.evaluate(() => document.querySelector('.bt-report').click());
      await page.locator('.rep-left').waitFor();
    },
    options: { viewport: { width: 900, height: 600 } },
  },
  'a failed upload': {
    query: 'bucket=failed',
    act: async (page) => {
      await page.getByTestId('job-row').filter({ hasText: 'peatland' }).click();
      await page.getByTestId('reused-from').waitFor();
    },
  },
  'an earlier run': {
    query: '',
    act: async (page) => {
      await page.getByTestId('job-row').filter({ hasText: 'biochar' }).click();
      await page.keyboard.press('r');
      await page.getByTestId('dry-run').locator('hr').nth(1).waitFor();
    },
  },
  menu: { query: '', act: (page) => page.locator('.chips .chip').first().click() },
  'dead letters': {
    query: '',
    act: async (page) => {
      await page.getByTestId('view-dead-letters').click();
      await page.locator('[data-cause=overloaded] .ib').click();
    },
  },
  drop: {
    query: '',
    act: (page) => page.evaluate((e) => window.gistmillMock.drag({ ...e, type: 'enter' }), DROP),
  },
  add: {
    query: '',
    act: async (page) => {
      await page.evaluate((e) => window.gistmillMock.drag(e), DROP);
      await page.getByTestId('sheet-start').waitFor();
      await page.locator('.pb > .btn').first().click();
    },
  },
  'add, troubles of every kind, a wrong password': {
    query: '',
    act: async (page) => {
      await page.evaluate((e) => window.gistmillMock.drag({ ...e, paths: ['/home/mika/troubles'] }), DROP);
      await page.getByTestId('unlock').locator('input').fill('wrong');
      await page.keyboard.press('Enter');
      await page.getByTestId('unlock').locator('[role=alert]').waitFor();
      for (const id of ['not-a-pdf', 'long', 'duplicate'])
        await page.locator(`[data-group=${id}] > .btn`).click();
    },
  },
  'add, narrow, unlocked': {
    query: '',
    act: async (page) => {
      await page.evaluate((e) => window.gistmillMock.drag({ ...e, paths: ['/home/mika/troubles'] }), DROP);
      await page.getByTestId('unlock').locator('input').fill('sesame');
      await page.keyboard.press('Enter');
      await page.locator('.unlocked').waitFor();
    },
    options: { viewport: { width: 900, height: 600 } },
  },
  'add, counting, half price, a pilot': {
    query: 'hold=count&batchLane&batchCap=3',
    act: async (page) => {
      await page.evaluate((e) => window.gistmillMock.drag(e), DROP);
      await page.getByTestId('pilot-choice').getByRole('switch').click();
      await page.getByTestId('pilot-choice').locator('input').fill('nothing');
    },
  },
  'add, narrow, no key': {
    query: 'key=none&fail=countTokens:key-missing',
    act: async (page) => {
      await page.evaluate((e) => window.gistmillMock.drag(e), DROP);
      await page.getByTestId('sheet-start').waitFor();
    },
    options: { viewport: { width: 900, height: 600 } },
  },
  ...Object.fromEntries(
    ['running', 'ended', 'failed'].map((how) => [
      `pilot, ${how}`,
      {
        query: `pilot=${how}`,
        act: async (page) => {
          await page.locator('.bt-report').first().click();
          await page.getByTestId('pilot-rest').locator('.w').waitFor();
        },
      },
    ]),
  ),
  'pilot, narrow': {
    query: 'pilot=ended',
    act: async (page) => {
      await page.evaluate(() => document.querySelector('.bt-report').click());
      await page.getByTestId('pilot-rest').locator('.w').waitFor();
    },
    options: { viewport: { width: 900, height: 600 } },
  },
  'pilot, the others with changes': {
    query: 'pilot=ended',
    act: async (page) => {
      await page.locator('.bt-report').first().click();
      await page.getByTestId('pilot-change').click();
      await page.locator('dialog').getByTestId('pilot-rest').locator('.w').waitFor();
    },
  },
  'looking through folders': {
    query: 'hold=walk',
    act: async (page) => {
      await page.evaluate((e) => window.gistmillMock.drag(e), DROP);
      await page.locator('.scan-counts .retry').waitFor();
    },
  },
  'parts of a long document': {
    query: 'parts&textOnly&baseUrl=http://localhost:11434',
    act: async (page) => {
      await page.getByTestId('job-row').filter({ hasText: 'no-till' }).click();
      await page.getByTestId('page-picture').locator('img').waitFor();
      await page.getByTestId('document-facts').scrollIntoViewIfNeeded();
    },
  },
  'parts of a long document, narrow': {
    query: 'parts',
    act: async (page) => {
      await page.getByTestId('job-row').filter({ hasText: 'biochar' }).click();
      await page.getByTestId('parts').scrollIntoViewIfNeeded();
    },
    options: { viewport: { width: 900, height: 600 } },
  },
  'password of dead letters': {
    query: '',
    act: async (page) => {
      await page.getByTestId('view-dead-letters').click();
      await page.locator('[data-cause=pdf-encrypted] .fix .btn').click();
      await page.locator('dialog input').fill('wrong');
      await page.keyboard.press('Enter');
      await page.locator('dialog [role=alert]').waitFor();
    },
  },
  'settings, models, tested, at its end': {
    query: 'model=claude-opus-4-5',
    act: async (page) => {
      await page.getByTestId('settings-open').click();
      await page.locator('[data-pane=models]').click();
      await page.locator('.fs .btn-primary').first().click();
      await page.getByTestId('key-outcome').locator('.result').waitFor();
    },
  },
  'settings, a gateway with headers and certificates': {
    query: 'baseUrl=https://gateway.example.com&endpoint=litellm&headers=x-team,cf-access-token&ca',
    act: async (page) => {
      await page.getByTestId('settings-open').click();
      await page.locator('[data-pane=models]').click();
      await page.getByTestId('headers').getByRole('button').last().click();
      await page.locator('.ep-headers .btn-primary').click();
    },
    options: { viewport: { width: 900, height: 600 } },
  },
  'settings, another endpoint being chosen': {
    query: 'key=none',
    act: async (page) => {
      await page.getByTestId('settings-open').click();
      await page.locator('[data-pane=models]').click();
      await page.getByTestId('endpoint').locator('select').selectOption('other');
      await page.locator('.ep-draft .btn-primary').click();
    },
  },
  'settings, text only': {
    query: 'textOnly&baseUrl=http://localhost:11434',
    act: async (page) => {
      await page.getByTestId('settings-open').click();
      await page.locator('[data-pane=models]').click();
      await page.getByTestId('abilities').waitFor();
    },
  },
  'queue, a model that ends': { query: 'model=claude-sonnet-4-5' },
  'dead letters of endpoint and model': {
    query: 'dead=pdf-not-taken,files-not-taken,model-retired&baseUrl=https://gateway.example.com',
    act: async (page) => {
      await page.getByTestId('view-dead-letters').click();
      await page.locator('[data-cause=model-retired] .fix .btn').click();
      await page.getByTestId('dry-run').locator('hr').nth(1).waitFor();
    },
  },
  scanning: { query: 'hold=scan', act: (page) => page.evaluate((e) => window.gistmillMock.drag(e), DROP) },
  prompt: { query: '', act: (page) => page.locator('.tool .btn').first().click() },
  keys: { query: '', act: (page) => page.locator('.foot-keys').click() },
  toast: {
    query: 'fail=pauseLane:storage',
    act: async (page) => {
      await page.locator('.lane button').first().click();
      await page.getByTestId('toast').waitFor();
    },
  },
  reader: {
    query: '',
    act: async (page) => {
      await page.getByTestId('job-row').filter({ hasText: 'biochar' }).dblclick();
      await page.locator('.sum h2').waitFor();
    },
  },
  'settings, general': { query: '', act: (page) => page.getByTestId('settings-open').click() },
  'settings, models': {
    query: 'key=no-keychain',
    act: async (page) => {
      await page.getByTestId('settings-open').click();
      await page.locator('.set-nav button').nth(1).click();
    },
  },
};

for (const theme of ['light', 'dark']) {
  for (const [name, screen] of Object.entries(SCREENS)) {
    test(`${name}, ${theme}: nothing for axe to find, nothing wider than the window`, async () => {
      const language = theme === 'light' ? 'en' : 'ja';
      const { page, complaints, close } = await openWindow(
        browser,
        pages.address,
        `freeze&theme=${theme}&lang=${language}&${screen.query}`,
        screen.options,
      );
      await screen.act?.(page);
      await page.waitForTimeout(250);
      assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), theme);
      await page.evaluate(axe);
      const found = await page.evaluate(() =>
        window.axe.run(document, {
          runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
          // A window is not a page of a site: it needs no skip link.
          rules: { 'skip-link': { enabled: false }, region: { enabled: false } },
        }),
      );
      const said = found.violations.map(
        (each) =>
          `${each.id}: ${each.nodes.map((node) => `${node.html.slice(0, 160)} ${node.failureSummary}`).join(' | ')}`,
      );
      assert.deepEqual(said, []);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
      assert.deepEqual(complaints, []);
      await close();
    });
  }
}

test('language and theme change at once and last over a reload', async () => {
  const { page, close } = await openWindow(browser, pages.address, '');
  await page.getByRole('button', { name: '日本語で表示' }).click();
  await page.getByTestId('view-dead-letters').filter({ hasText: '失敗' }).waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.lang), 'ja');
  await page.getByRole('button', { name: 'ライト・ダーク切り替え' }).click();
  await page.waitForFunction(() => document.documentElement.dataset.theme === 'dark');
  await page.addInitScript(() => {
    // What the first paint would use: the script of the page has not run yet.
    document.addEventListener(
      'DOMContentLoaded',
      () => (window.firstTheme = document.documentElement.dataset.theme),
    );
  });
  await page.reload();
  assert.equal(await page.evaluate(() => window.firstTheme), 'dark');
  await close();
});

test('a Japanese system gets Japanese', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze', { locale: 'ja-JP' });
  assert.match(await page.getByTestId('add-pdfs').innerText(), /PDF を追加/);
  await close();
});

test('a system whose language is "C" starts', async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  const errors = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  await page.addInitScript(() => {
    Object.defineProperty(navigator, 'language', { get: () => 'C' });
    Object.defineProperty(navigator, 'languages', { get: () => ['C'] });
  });
  await page.goto(`${pages.address}?freeze`);
  await page.getByTestId('job-row').first().waitFor();
  assert.deepEqual(errors, []);
  await context.close();
});

test('an error at the start is shown with diagnostics to copy', async () => {
  const context = await browser.newContext({ locale: 'ja-JP' });
  const page = await context.newPage();
  await page.goto(`${pages.address}?fail=overview:newer-database`);
  const panel = page.getByRole('alertdialog');
  await panel.waitFor();
  assert.match(await panel.innerText(), /予期しないエラー[\s\S]*newer-database/);
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'ウィンドウを再読み込み');
  await context.close();
});

test('a script that does not load is shown too', async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.route('**/assets/index-*.js', (route) => route.abort());
  await page.goto(pages.address);
  await page.getByRole('alertdialog').waitFor();
  assert.match(await page.getByRole('alertdialog').innerText(), /Not loaded: .*index-/);
  await context.close();
});

test('text at twice its size stays usable', async () => {
  // A window of 1280 x 800 with everything twice as large has this many CSS pixels.
  const options = { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 };
  const { page, close } = await openWindow(browser, pages.address, 'freeze', options);
  await page.getByTestId('job-row').first().click();
  await page.locator('.detail').waitFor();
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
  await close();
});
