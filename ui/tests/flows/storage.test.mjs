/** Where results go: setting up R2, trying uploads again, exporting, and the report of a batch. */
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

const ACCOUNT = '4f1c9b7e20d84a6c8e5530b1a7d2f964';
const row = (page, text) => page.getByTestId('job-row').filter({ hasText: text });
const openPane = async (page, pane) => {
  await page.getByTestId('settings-open').click();
  await page.locator(`[data-pane=${pane}]`).click();
};

test('R2 is set up from a pasted address, tested, mended and saved; the secret never comes back', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze');
  await openPane(page, 'storage');
  await page.getByRole('switch', { name: 'Copy to R2' }).click();
  const account = page.getByLabel('Account ID');
  await account.evaluate((field, text) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', text);
    field.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
  }, `https://${ACCOUNT}.eu.r2.cloudflarestorage.com/paper-missing/summaries`);
  await page.getByText('Filled in from the address.').waitFor();
  assert.equal(await account.inputValue(), ACCOUNT);
  assert.equal(await page.getByLabel('Bucket', { exact: true }).inputValue(), 'paper-missing');
  assert.equal(await page.getByLabel('Jurisdiction').inputValue(), 'eu');
  assert.equal(await page.getByLabel('Folder in the bucket').inputValue(), 'summaries');

  // What is missing is said at its field, and nothing is tested.
  const test = page.getByRole('button', { name: 'Test', exact: true });
  await test.click();
  await page.getByText('The id of an API token’s access key.').waitFor();
  await page.getByLabel('Access key ID').fill('a81f0c5e9d7b4e22');
  const outcome = page.getByTestId('bucket-outcome');

  // A test that takes too long is not waited for.
  await page.getByLabel('Secret access key').fill('wrong');
  await test.click();
  await page.getByRole('button', { name: 'Stop' }).click();
  assert.doesNotMatch(await outcome.innerText(), /secret/);

  await test.click();
  await outcome.getByText('The secret does not belong to this access key id.').waitFor();
  await page.getByLabel('Secret access key').fill('right-secret');
  await test.click();
  await outcome.getByText('There is no bucket of this name').waitFor();
  await page.getByLabel('Bucket', { exact: true }).fill('paper-summaries');
  await test.click();
  await outcome.getByText('Wrote, read and deleted a test object.').waitFor();
  assert.match(await outcome.innerText(), /Not saved yet/);

  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Bucket saved').waitFor();
  await page.getByText('In the system keychain').waitFor();
  assert.ok(!(await page.content()).includes('right-secret'));
  assert.match(
    await page.getByTestId('bucket-uploads').innerText(),
    /eu\.r2\.cloudflarestorage\.com\/paper-summaries\/summaries/,
  );
  assert.deepEqual(complaints, []);
  await close();
});

test('what is not in the bucket is copied, what was given up is tried again', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze&bucket=failed');
  await page.getByTestId('upload-line').filter({ hasText: '2 uploads failed' }).click();
  const uploads = page.getByTestId('bucket-uploads');
  await uploads.getByRole('button', { name: 'Uploads given up' }).click();
  await uploads.getByText('The connection was cut off five times.').first().waitFor();
  await uploads.getByRole('button', { name: 'Try 2 again' }).click();
  await uploads.getByText('2 uploads waiting').waitFor();
  await uploads.getByRole('button', { name: 'Copy 33' }).click();
  await uploads.getByText('35 uploads waiting').waitFor();
  assert.deepEqual(complaints, []);
  await close();
});

test('a job says where its upload stands, and what keeps it back', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze&bucket=waiting');
  await page
    .getByTestId('upload-line')
    .filter({ hasText: '3 uploads waiting: no connection to R2' })
    .waitFor();
  await row(page, 'biochar').click();
  await page
    .getByTestId('upload')
    .filter({ hasText: /R2 can’t be reached[\s\S]*Tried again in 0:38/ })
    .waitFor();
  await close();
});

test('copies go where they are wanted', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze');
  await openPane(page, 'storage');
  await page.getByLabel('On this computer').selectOption('folder');
  await page.getByText('/home/mika/Documents/Grid reliability reports').waitFor();
  await page.getByLabel('If the file exists').selectOption('overwrite');
  await page.getByRole('checkbox', { name: 'JSONL' }).click();
  assert.equal(await page.getByRole('checkbox', { name: 'JSONL' }).getAttribute('aria-checked'), 'true');
  await page.getByLabel('On this computer').selectOption('nowhere');
  await page.getByText('Takes copies beside the PDFs or in a folder.').waitFor();
  assert.deepEqual(complaints, []);
  await close();
});

test('what the list shows is exported, and opened from the toast', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze');
  await page.getByRole('textbox', { name: 'Search' }).fill('lease');
  await page.waitForFunction(() => /^64 jobs/.test(document.querySelector('.tfoot').innerText));
  await page.getByTestId('export-all').click();
  const sheet = page.getByRole('dialog', { name: 'Export' });
  assert.match(await sheet.innerText(), /64 jobs[\s\S]*byte order mark/);
  await sheet.getByRole('radio', { name: /JSONL/ }).check();
  assert.equal(await sheet.getByRole('checkbox').count(), 0, 'the mark is for tables only');
  await page.keyboard.press('Control+Enter');
  const toast = page.getByTestId('toast');
  await toast.getByText('64 jobs exported').waitFor();
  assert.match(await toast.innerText(), /have no result yet/);
  await toast.getByRole('button', { name: 'Open' }).click();
  assert.deepEqual(await page.evaluate(() => window.gistmillMock.opened), [
    '/home/mika/Documents/Jobs.jsonl',
  ]);
  assert.deepEqual(complaints, []);
  await close();
});

test('an export that fails keeps its sheet; a selection is exported by its own', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze&fail=exportJobs:storage');
  await row(page, 'biochar').click();
  await page.keyboard.press('Shift+ArrowDown');
  await page
    .getByRole('group', { name: 'Selected jobs' })
    .getByRole('button', { name: 'More actions' })
    .click();
  await page.getByRole('menuitem', { name: 'Export 2…' }).click();
  await page.getByTestId('export-start').click();
  await page.getByTestId('toast').filter({ hasText: 'no space is left' }).waitFor();
  assert.ok(await page.getByTestId('export-start').isEnabled());
  await close();
});

test('a batch’s report leads to what is to be done next', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze');
  await page.locator('.bt-row').filter({ hasText: 'Incident reports' }).hover();
  await page.getByRole('button', { name: 'Report of Incident reports, Feb' }).click();
  const report = page.getByTestId('report');
  await report.getByText('How it ended').waitFor();
  assert.match(await report.innerText(), /74\s+Done|Done\s+74/);
  assert.match(await report.innerText(), /4 files, \$0\.00/);

  // A step runs exactly its jobs again, with the price first.
  const step = report.locator('[data-cause=timed-out]');
  await step.getByRole('button', { name: 'Run 1 again…' }).click();
  await page.getByTestId('dry-run').getByText('Will run').waitFor();
  await page.getByTestId('retry-start').click();
  await page.getByText('1 job back in the queue').waitFor();
  await step.waitFor({ state: 'detached' });
  await report.getByText('1 job is left').waitFor();

  // The dearest job opens, and closes to the report again.
  await report.locator('.rank').last().click();
  await page.getByTestId('reader').waitFor();
  await page.keyboard.press('Escape');
  await report.getByText('Dearest').waitFor();

  await report.getByRole('button', { name: 'Markdown', exact: true }).click();
  await page.getByTestId('toast').filter({ hasText: '90 jobs exported' }).waitFor();
  await report.getByRole('button', { name: 'Review 2' }).click();
  await page.waitForFunction(() => /^3 jobs/.test(document.querySelector('.tfoot').innerText));
  assert.match(await page.getByTestId('batch-bar').innerText(), /Incident reports/);
  assert.deepEqual(complaints, []);
  await close();
});

test('a running batch is reported so far, from the bar above the list', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze');
  await page.getByRole('button', { name: /^Soil carbon review/ }).click();
  await page.getByTestId('batch-bar').getByRole('button', { name: 'Report' }).click();
  await page.getByText('305 jobs are left: these are the figures so far.').waitFor();
  await page.keyboard.press('Escape');
  await page.getByTestId('batch-bar').waitFor();
  await close();
});
