/** Details of a job, dead letters, the answer line and settings. */
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

const opened = (page) => page.evaluate(() => window.gistmillMock.opened);

test('the summary is shown, and an address in it is opened only after a question', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze');
  await page.getByTestId('job-row').filter({ hasText: 'biochar' }).click();
  const summary = page.getByTestId('detail-summary');
  assert.match(await summary.innerText(), /Biochar raises soil carbon/);
  await summary.getByRole('link').click();
  const question = page.getByRole('dialog', { name: 'Open this address in the browser?' });
  assert.match(await question.innerText(), /https:\/\/example\.org\/biochar-trials/);
  await page.keyboard.press('Escape');
  assert.deepEqual(await opened(page), []);
  await summary.getByRole('link').click();
  await page.getByText('Open in the browser', { exact: true }).click();
  assert.deepEqual(await opened(page), ['https://example.org/biochar-trials']);
  assert.match(
    await page.locator('.tl').innerText(),
    /Done[\s\S]*Rate limit \(429\)[\s\S]*Provider overloaded \(529\)/,
  );
  assert.deepEqual(complaints, []);
  await close();
});

test('the menu shows the file in its folder', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze');
  await page.getByTestId('job-row').filter({ hasText: 'biochar' }).click();
  await page.getByTestId('detail-summary').waitFor();
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Show in folder' }).click();
  assert.match((await opened(page))[0], /biochar_field-trials_meta-analysis\.pdf$/);
  await close();
});

test('dead letters are grouped by cause and run again by group, selection or all that match', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze');
  await page.getByTestId('view-dead-letters').click();
  const groups = page.getByTestId('dead-letter-group');
  await groups.first().waitFor();
  assert.equal(await groups.count(), 6);
  const dryRun = page.getByTestId('dry-run');
  const start = page.getByTestId('retry-start');

  // A group: the dry run says what it costs before anything is sent.
  await page.locator('[data-cause=overloaded]').getByRole('button', { name: 'Run 5 again' }).click();
  await dryRun.getByText('Will run').waitFor();
  assert.match(await dryRun.innerText(), /Will run\s+5\s+Expected\s+\$\d+\.\d\d\s+At worst\s+\$\d+\.\d\d/);
  await start.click();
  await page.getByText('5 jobs back in the queue').waitFor();
  await page.waitForFunction(() => document.querySelectorAll('[data-testid=dead-letter-group]').length === 5);
  assert.match(await page.getByTestId('view-dead-letters').innerText(), /18/);

  // A selection whose files are gone: nothing would run, and it says why.
  await page.locator('[data-cause=file-missing]').getByRole('checkbox').first().click();
  await page.getByText('3 of 18 selected').waitFor();
  await page.locator('.selbar').getByRole('button', { name: 'Run 3 again' }).click();
  await dryRun.getByText('Will not: file has moved').waitFor();
  assert.ok(await start.isDisabled(), 'nothing would run, so nothing can be started');
  await page.keyboard.press('Escape');

  // Everything that matches: what can run does, the rest stays with its cause.
  await page.getByRole('button', { name: 'Run all 18 again' }).click();
  await dryRun.getByText('Will run').waitFor();
  assert.match(await dryRun.innerText(), /Will not: Password-protected\s+6/);
  assert.equal(await start.innerText(), 'Run 3 again');
  await start.click();
  await page.getByText('3 jobs back in the queue').waitFor();
  await page.waitForFunction(() => document.querySelectorAll('[data-testid=dead-letter-group]').length === 4);

  // What is left can be thrown away, after a question that counts it.
  await page.getByRole('button', { name: 'Select all 15 that match' }).click();
  await page.getByRole('button', { name: 'Discard 15…' }).click();
  const question = page.getByRole('dialog', { name: 'Discard 15 jobs?' });
  assert.match(await question.innerText(), /can’t be brought back/);
  await question.getByRole('button', { name: 'Discard 15 jobs' }).click();
  await page.getByText('Nothing failed').waitFor();
  assert.deepEqual(complaints, []);
  await close();
});

test('dead letters that are too long run offline, where they would not with Claude', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze');
  await page.getByTestId('view-dead-letters').click();
  await page.locator('[data-cause=too-many-pages]').getByRole('button', { name: 'Run 4 again' }).click();
  const dryRun = page.getByTestId('dry-run');
  await dryRun.getByText('Will not: Too many pages').waitFor();
  await page.getByRole('radio', { name: 'Offline summary' }).click();
  await page.waitForFunction(() =>
    /Will run\s+4/.test(document.querySelector('[data-testid=dry-run]').innerText),
  );
  assert.match(await dryRun.innerText(), /At worst\s+\$0\.00/);
  await page.keyboard.press('Control+Enter');
  await page.getByText('4 jobs back in the queue').waitFor();
  await close();
});

test('dead letters follow the search, with counts of what matches', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze');
  await page.getByTestId('view-dead-letters').click();
  await page.getByTestId('dead-letter-group').first().waitFor();
  await page.getByRole('textbox', { name: 'Search' }).fill('lease');
  await page.waitForFunction(() => document.querySelectorAll('[data-testid=dead-letter-group]').length === 1);
  assert.match(await page.getByTestId('dead-letter-group').innerText(), /Damaged PDF\s*1 file/);
  await page.getByRole('button', { name: 'Run all 1 again' }).waitFor();
  await close();
});

test('a lane is paused and resumed, and the answer line says why nothing moves', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze&paused=high,bulk');
  assert.match(await page.locator('.why').innerText(), /Why is nothing moving\?[\s\S]*You paused both lanes/);
  await page.locator('.why').getByRole('button', { name: 'Resume' }).click();
  await page.getByRole('button', { name: 'Pause Bulk' }).waitFor();
  await close();
});

test('a refused key: the answer line leads to the test', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze&circuit=key-refused');
  await page.locator('.why').getByRole('button', { name: 'Test the key' }).click();
  await page.getByRole('heading', { name: 'Models & key' }).waitFor();
  await page.getByRole('button', { name: 'Test', exact: true }).click();
  await page.getByText('The key works.').waitFor();
  await close();
});

test('settings are kept, and a wrong one is refused in words', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze');
  await page.getByTestId('settings-open').click();
  await page.getByRole('radio', { name: 'Dark' }).click();
  assert.ok(await page.getByRole('radio', { name: 'Dark' }).isChecked());
  await page.getByRole('button', { name: 'Models & key' }).click();
  const limit = page.getByLabel('Output limit');
  await limit.fill('12');
  await limit.press('Enter');
  await page.getByText('A whole number from 256 to 64,000.').waitFor();
  await limit.fill('8192');
  await limit.press('Enter');
  await page.getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await page.getByText('No key is set.').waitFor();
  await page.keyboard.press('Escape');
  await page.getByTestId('job-row').first().waitFor();
  assert.deepEqual(complaints, []);
  await close();
});
