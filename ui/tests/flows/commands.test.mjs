/** The list of commands, and every key of the key list. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openBrowser, openWindow, servePages } from './harness.mjs';

let pages, browser;
before(async () => {
  pages = await servePages();
  browser = await openBrowser();
});
after(async () => {
  await browser.close();
  await pages.close();
});

const open = (query = 'freeze', options) => openWindow(browser, pages.address, query, options);
const palette = (page) => page.getByRole('dialog', { name: 'Find a command' });
const field = (page) => page.getByRole('combobox', { name: 'Find a command' });
const row = (page, words) => page.getByTestId('job-row').filter({ hasText: words });
const focused = (page) => page.evaluate(() => document.activeElement.textContent);
const opened = (page) => page.evaluate(() => window.gistmillMock.opened);

async function run(page, words) {
  await page.keyboard.press('Control+k');
  await field(page).fill(words);
  await page.keyboard.press('Enter');
  await palette(page).waitFor({ state: 'detached' });
}

test('the list of commands is a combobox that keeps the focus and gives it back', async () => {
  const { page, complaints, close } = await open();
  await row(page, 'biochar').click();
  await page.keyboard.press('Control+k');
  assert.ok(await field(page).evaluate((input) => input === document.activeElement), 'one types at once');
  const current = () =>
    field(page).evaluate((input) => {
      const option = document.getElementById(input.getAttribute('aria-activedescendant'));
      return option.getAttribute('role') === 'option' && option.getAttribute('aria-selected') === 'true'
        ? option.textContent.trim()
        : 'none';
    });
  assert.match(await current(), /^Read/, 'the first entry is the current one');
  await page.keyboard.press('ArrowUp');
  assert.match(await current(), /Copy diagnostics/, 'up from the first leads to the last');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  assert.match(await current(), /^Run again/, 'then to the second');
  for (let at = 0; at < 3; at += 1) await page.keyboard.press('Tab');
  assert.ok(await palette(page).evaluate((box) => box.contains(document.activeElement)), 'Tab stays inside');
  await page.keyboard.press('Escape');
  await palette(page).waitFor({ state: 'detached' });
  assert.match(await focused(page), /biochar/, 'the row has the focus again');
  assert.deepEqual(complaints, []);
  await close();
});

test('a command is run by its words, of either language, and is the first one next time', async () => {
  const { page, close } = await open();
  await run(page, 'settings prices');
  await page.getByRole('heading', { name: 'Prices' }).waitFor();
  await page.keyboard.press('Escape');
  await run(page, 'ダーク');
  await page.waitForFunction(() => document.documentElement.dataset.theme === 'dark');
  await page.keyboard.press('Control+k');
  const group = palette(page).getByRole('group').first();
  assert.equal(await group.getAttribute('aria-label'), 'Recent');
  assert.match(await group.getByRole('option').first().innerText(), /Settings: Prices/);
  assert.equal(await group.getByRole('option').count(), 1, 'what is so already is not proposed again');
  await close();
});

test('what can’t be done says why and is not done', async () => {
  const { page, close } = await open('freeze&empty');
  await page.keyboard.press('Control+k');
  await field(page).fill('run dead');
  const option = palette(page).getByRole('option').first();
  assert.equal(await option.getAttribute('aria-disabled'), 'true');
  assert.match(await option.innerText(), /Nothing failed/);
  await page.keyboard.press('Enter');
  assert.ok(await palette(page).isVisible(), 'the list stays open');
  await close();
});

test('commands reach batches, templates, lanes, sheets and the jobs that are selected', async () => {
  const { page, close } = await open();
  await run(page, 'report lease');
  await page.getByTestId('report').waitFor();
  await run(page, 'edit lease abstract');
  await page.getByRole('dialog').locator('.tpl-fields').waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await run(page, 'pause bulk');
  await page.getByRole('button', { name: 'Resume Bulk' }).waitFor();
  await run(page, 'show all');
  await row(page, 'hedgerow').click();
  await run(page, 'run now');
  await page.getByText('1 job moved ahead').waitFor();
  await row(page, 'saltmarsh').click();
  await run(page, 'move to high');
  await page.getByText('1 job moved to High').waitFor();
  await run(page, 'undo');
  await page.getByText('1 job moved to High').waitFor({ state: 'detached' });
  await run(page, 'new prompt');
  assert.ok(
    await page.getByRole('dialog').evaluate((box) => box.contains(document.activeElement)),
    'the focus is in the sheet that the command opened',
  );
  await page.keyboard.press('Control+k');
  assert.equal(await page.getByRole('dialog').count(), 1, 'a sheet is finished first');
  await close();
});

test('the keys of the window: search, views, commands, regions, files, paths, keys', async () => {
  const { page, close } = await open();
  for (const [key, name] of [
    ['2', 'running'],
    ['3', 'waiting'],
    ['4', 'needs-review'],
    ['5', 'dead-letters'],
    ['6', 'done'],
    ['1', 'all'],
  ]) {
    await page.keyboard.press(key);
    await page.waitForFunction(
      (view) => document.querySelector('[aria-current=page]')?.dataset.testid === `view-${view}`,
      name,
    );
  }
  await page.keyboard.press('/');
  assert.ok(await page.locator('[data-search]').evaluate((input) => input === document.activeElement));
  await page.keyboard.type('1?');
  assert.equal(await page.locator('[data-search]').inputValue(), '1?', 'keys are letters while one types');
  await page.keyboard.press('Escape');
  await page.getByTestId('job-row').first().click();

  const regions = [];
  for (let at = 0; at < 5; at += 1) {
    await page.keyboard.press('F6');
    regions.push(
      await page.evaluate(() => document.activeElement.closest('[data-region]')?.className.split(' ')[0]),
    );
  }
  assert.equal(new Set(regions).size, 5, `F6 goes round five regions: ${regions}`);
  await page.keyboard.press('Shift+F6');
  assert.equal(
    await page.evaluate(() => document.activeElement.closest('[data-region]')?.className.split(' ')[0]),
    regions[3],
    'and back with Shift',
  );

  await page.getByTestId('job-row').first().click();
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'All keys' }).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+o');
  await page.getByRole('dialog').getByTestId('sheet-start').waitFor();
  await page.keyboard.press('Control+Enter');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.evaluate(() => {
    const data = new DataTransfer();
    data.setData('text/plain', '"/home/mika/Papers/field-notes.pdf"');
    document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true }));
  });
  await page.getByRole('dialog').getByTestId('sheet-start').waitFor();
  await close();
});

test('the keys of the table: lanes, pause, undo, open, run again, cancel, all that match', async () => {
  const { page, close } = await open();
  const waiting = page.locator('[data-status=pending]', { hasText: 'Bulk' }).nth(3);
  await page.getByTestId('view-waiting').click();
  await waiting.click();
  await page.keyboard.press('h');
  await page.getByText('1 job moved to High').waitFor();
  await page.keyboard.press('b');
  await page.getByText('1 job moved to Bulk').waitFor();
  await page.keyboard.press('Space');
  await page.getByText('1 job paused').waitFor();
  await page.keyboard.press('Control+z');
  await page.getByText('1 job paused').waitFor({ state: 'detached' });
  await page.keyboard.press('Delete');
  await page.getByText('1 job cancelled').waitFor();
  await page.getByTestId('view-all').click();
  await row(page, 'biochar').click();
  await page.keyboard.press('o');
  await page.waitForFunction(() => window.gistmillMock.opened.length === 1);
  assert.match((await opened(page))[0], /biochar.*\.pdf$/);
  await page.keyboard.press('r');
  await page.getByRole('dialog').getByTestId('dry-run').waitFor();
  await page.keyboard.press('Escape');
  await row(page, 'grazing').click();
  await page.keyboard.press('Shift+R');
  await page.getByRole('dialog', { name: 'Run again with changes' }).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+a');
  await page.getByText('All 798 that match are selected').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('.sel-rows').waitFor({ state: 'detached' });
  await page.keyboard.press('Shift+F10');
  await page.getByRole('menu').waitFor();
  await page.keyboard.press('Escape');
  assert.match(await focused(page), /grazing|biochar/, 'the menu gives the focus back');
  await close();
});

test('Ctrl Enter presses the primary button of each sheet', async () => {
  const { page, close } = await open();
  await page.getByTestId('export-all').click();
  await page.keyboard.press('Control+Enter');
  await page.getByText(/798 jobs exported/).waitFor();
  await page.getByTestId('view-dead-letters').click();
  await page.locator('.tool .btn').click();
  await page.getByTestId('dry-run').locator('hr').nth(1).waitFor();
  await page.keyboard.press('Control+Enter');
  await page.getByText(/back in the queue/).waitFor();
  await run(page, 'new template');
  await page.locator('.tpl-prompt').fill('List the risks of {file_name}.');
  await page.getByRole('dialog').locator('input').first().fill('Risks');
  await page.locator('[data-primary]:not([disabled])').waitFor();
  await page.keyboard.press('Control+Enter');
  await page.getByText('Risks saved as version 1').waitFor();
  await close();
});

test('single keys are switched off in General, at once and for all of them', async () => {
  const { page, close } = await open();
  await run(page, 'settings general');
  await page.getByRole('switch', { name: 'Single-key shortcuts' }).click();
  await page.keyboard.press('Escape');
  await row(page, 'hedgerow').click();
  for (const key of ['n', 'h', 'r', 'o', 'j', '2', '/', '?']) await page.keyboard.press(key);
  assert.match(await focused(page), /hedgerow/, 'nothing moved');
  assert.equal(await page.locator('.toast').count(), 0, 'nothing was done');
  assert.deepEqual(await opened(page), []);
  assert.equal(await page.getByRole('dialog').count(), 0);
  assert.equal(await page.getByTestId('view-all').getAttribute('aria-current'), 'page');
  await page.keyboard.press('ArrowDown');
  assert.doesNotMatch(await focused(page), /hedgerow/, 'arrows still move');
  await page.keyboard.press('Control+k');
  await palette(page).waitFor();
  await close();
});
