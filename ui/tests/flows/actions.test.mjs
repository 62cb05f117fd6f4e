/** What a person does to jobs and batches: one by one, many at once, and all that match. */
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

const row = (page, text) => page.getByTestId('job-row').filter({ hasText: text });
const toast = (page) => page.getByTestId('toast');

test('a waiting job is paused and resumed by key and by undo', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze');
  await row(page, 'saltmarsh_blue').click();
  await page.keyboard.press('Space');
  await row(page, 'saltmarsh_blue')
    .filter({ hasText: /Paused/ })
    .waitFor();
  assert.match(await row(page, 'saltmarsh_blue').innerText(), /Paused by you/);
  await toast(page).getByRole('button', { name: 'Undo' }).click();
  await row(page, 'saltmarsh_blue')
    .filter({ hasText: /Waiting/ })
    .waitFor();
  await row(page, 'saltmarsh_blue').click();
  await page.keyboard.press('Space');
  await row(page, 'saltmarsh_blue').filter({ hasText: 'Paused' }).waitFor();
  await page.keyboard.press('Space');
  await page.getByText('1 job resumed').waitFor();
  assert.deepEqual(complaints, []);
  await close();
});

test('the row’s menu opens by key, moves the job, and gives the focus back', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze');
  await row(page, 'saltmarsh_blue').click();
  await page.keyboard.press('Shift+F10');
  const menu = page.getByRole('menu', { name: /Actions for saltmarsh/ });
  await menu.waitFor();
  assert.deepEqual(
    (await menu.getByRole('menuitem').allInnerTexts()).map((text) => text.split('\n')[0]),
    [
      'Run now',
      'Pause',
      'Move to the front',
      'Move up',
      'Move down',
      'Move to the end',
      'Move to High',
      'Show in folder',
      'Cancel job',
      'Discard…',
    ].filter((name) => name !== 'Run now'),
    'it waits for its lane: running it now would change nothing',
  );
  await page.keyboard.press('Escape');
  assert.match(await page.evaluate(() => document.activeElement.textContent), /saltmarsh/);
  await page.keyboard.press('Shift+F10');
  await menu.getByRole('menuitem', { name: 'Move to High' }).click();
  await row(page, 'saltmarsh_blue').filter({ hasText: 'High' }).waitFor();
  await page.keyboard.press('Control+z');
  await row(page, 'saltmarsh_blue').filter({ hasText: 'Bulk' }).waitFor();
  assert.deepEqual(complaints, []);
  await close();
});

test('a job moves in its lane, and says so where it can’t', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze');
  await page.getByTestId('view-waiting').click();
  await page.locator('[data-search]').fill('saltmarsh_blue');
  await page.locator('[aria-rowcount="7"]').waitFor();
  await row(page, 'saltmarsh_blue').nth(2).click();
  await page.keyboard.press('Alt+ArrowUp');
  await page.getByText('Moved up in its lane').waitFor();
  await page.keyboard.press('Shift+F10');
  await page.getByRole('menuitem', { name: 'Move to the front' }).click();
  await page.getByText('Moved to the front of its lane').waitFor();
  await page.keyboard.press('Alt+ArrowUp');
  await page.getByText('It is there already').waitFor();
  await close();
});

test('a job is discarded only after a question, and then it is gone', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze');
  await row(page, 'grazing').click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Discard…' }).click();
  const question = page.getByRole('dialog', { name: 'Discard 1 job?' });
  assert.match(await question.innerText(), /grazing[\s\S]*stored results/);
  await page.keyboard.press('Escape');
  assert.equal(await row(page, 'grazing').count(), 1, 'Escape discards nothing');
  await row(page, 'grazing').click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Discard…' }).click();
  await question.getByRole('button', { name: 'Discard 1 job' }).click();
  await page.getByText('1 job discarded').waitFor();
  await page.waitForFunction(() => /^797 jobs/.test(document.querySelector('.tfoot').innerText));
  assert.equal(await row(page, 'grazing').count(), 0);
  await close();
});

test('all that match are counted first, then done by the engine', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze');
  await row(page, 'saltmarsh_blue').click();
  await page.keyboard.press('Shift+ArrowDown');
  const bar = page.getByRole('group', { name: 'Selected jobs' });
  assert.match(await bar.innerText(), /2 of 798 selected/);
  await bar.getByRole('button', { name: 'Select all 798 that match' }).click();
  assert.match(await bar.innerText(), /All 798 that match are selected/);
  await bar.getByRole('button', { name: 'Pause' }).click();
  const question = page.getByRole('dialog', { name: 'Pause 423 jobs?' });
  assert.match(await question.innerText(), /375 others stay as they are/);
  await question.getByRole('button', { name: 'Pause 423 jobs' }).click();
  await page.getByText('423 jobs paused').waitFor();
  await page.getByTestId('view-waiting').click();
  await page.waitForFunction(() =>
    [...document.querySelectorAll('[data-testid=job-row]')].every((each) => /Paused/.test(each.innerText)),
  );
  // The answer line knows the way back, which counts first, too.
  await page.getByTestId('answer').first().getByRole('button', { name: 'Resume' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
  await page.getByText(/jobs resumed/).waitFor();
  assert.deepEqual(complaints, []);
  await close();
});

test('an action on all that match honours search and filters', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze');
  await page.getByRole('textbox', { name: 'Search' }).fill('lease');
  await page.waitForFunction(() => /^64 jobs/.test(document.querySelector('.tfoot').innerText));
  await page.getByTestId('job-row').first().click();
  await page.keyboard.press('Control+a');
  await page.keyboard.press('b');
  await page.getByRole('dialog', { name: 'Move 4 jobs to Bulk?' }).waitFor();
  await page.keyboard.press('Control+Enter');
  await page.getByText('4 jobs moved to Bulk').waitFor();
  await page.locator('.lane').first().filter({ hasText: '2 running, 0 waiting' }).waitFor();
  await close();
});

test('jobs are run again with changes after a dry run', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze');
  await row(page, 'grazing').click();
  await page.keyboard.press('Shift+R');
  const sheet = page.getByRole('dialog', { name: 'Run again with changes' });
  const dryRun = page.getByTestId('dry-run');
  await dryRun.getByText('Will run').waitFor();
  // A model that nobody knows the price of is not sent anything.
  await sheet.getByLabel('Model').fill('claude-new');
  await dryRun.getByText('Will not: no price known for claude-new').waitFor();
  assert.ok(await page.getByTestId('retry-start').isDisabled());
  await sheet.getByLabel('Model').fill('claude-haiku-4-5');
  await sheet.getByLabel('Output limit').fill('12');
  await sheet.getByText('A whole number from 256 to 64,000, or nothing.').waitFor();
  assert.ok(await page.getByTestId('retry-start').isDisabled(), 'a wrong limit is not planned');
  await sheet.getByLabel('Output limit').fill('8192');
  await sheet.getByRole('radio', { name: 'High' }).click();
  await page.waitForFunction(() => !document.querySelector('[data-testid=retry-start]').disabled);
  await page.getByTestId('retry-start').click();
  await page.getByText('1 job back in the queue').waitFor();
  await row(page, 'grazing').filter({ hasText: 'High' }).waitFor();
  assert.deepEqual(complaints, []);
  await close();
});

test('a batch is paused, resumed and capped', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze');
  await page.getByRole('button', { name: /^Soil carbon review/ }).click();
  const bar = page.getByTestId('batch-bar');
  assert.match(await bar.innerText(), /183 of 488 finished[\s\S]*\$\d/);
  await bar.getByRole('button', { name: 'Pause the batch Soil carbon review' }).click();
  await bar.getByRole('button', { name: 'Resume the batch Soil carbon review' }).waitFor();
  await row(page, 'saltmarsh_blue').filter({ hasText: 'Batch paused' }).waitFor();
  await bar.getByRole('button', { name: 'Resume the batch Soil carbon review' }).click();
  await row(page, 'saltmarsh_blue').filter({ hasText: 'Waiting' }).waitFor();

  await bar.getByRole('button', { name: 'Set a cap…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Spend cap of this batch' });
  await dialog.getByLabel('Spend cap').fill('ten');
  await dialog.getByText('An amount in dollars, such as 12.50.').waitFor();
  await dialog.getByLabel('Spend cap').fill('1');
  await page.keyboard.press('Enter');
  await row(page, 'saltmarsh_blue').filter({ hasText: 'Batch cap reached' }).waitFor();
  await bar.getByText('of $1.00').waitFor();
  await bar.getByRole('button', { name: 'Change the cap…' }).click();
  await dialog.getByRole('button', { name: 'No cap' }).click();
  await row(page, 'saltmarsh_blue').filter({ hasText: 'High goes first' }).waitFor();
  assert.deepEqual(complaints, []);
  await close();
});

test('the search finds text of a summary and words of an error', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze');
  const rows = () => page.locator('.tfoot').innerText();
  await page.getByRole('textbox', { name: 'Search' }).fill('anemometer');
  await page.waitForFunction(() => /^9 jobs/.test(document.querySelector('.tfoot').innerText));
  await page.getByRole('textbox', { name: 'Search' }).fill('password');
  await page.waitForFunction(() => /^6 jobs/.test(document.querySelector('.tfoot').innerText));
  await page.getByRole('textbox', { name: 'Search' }).fill('incident crane');
  await page.waitForFunction(() => !/^6 jobs/.test(document.querySelector('.tfoot').innerText));
  assert.doesNotMatch(await rows(), /^0 jobs/);
  await close();
});
