/** Half price: jobs that are with the batch API, running again that way and back, and the lane that goes so. */
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

const dryRun = (page, words) =>
  page.waitForFunction(
    (given) => new RegExp(given).test(document.querySelector('[data-testid=dry-run]').innerText),
    words,
  );

test('what is with the batch API says so in its row, its details and its lane, and is called off after a question', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze&halfPrice');
  await page.locator('.lane').nth(1).getByText('112 sent at half price').waitFor();
  assert.match(await page.locator('.lane').nth(1).innerText(), /4 running, 307 waiting/);
  await page.getByTestId('view-running').click();
  const row = page.locator('[data-status=submitted]').first();
  await row.click();
  const words = await row.innerText();
  assert.match(words, /At provider[\s\S]*Sent 17:5\d[\s\S]*Half price/);
  assert.match(words, /With provider, \d+:\d\d[\s\S]*Often 1 h, at most 24 h/);
  assert.match(await page.getByTestId('remote').innerText(), /Sent together\s+56 jobs[\s\S]*msgbatch_/);
  // What was handed over is neither held nor moved.
  await page.keyboard.press('Space');
  await page.getByText('Nothing to do for the selected jobs').waitFor();
  await page.keyboard.press('h');
  assert.equal(await page.locator('[data-status=submitted]').first().innerText(), words);
  await page.keyboard.press('Shift+F10');
  assert.equal(await page.getByRole('menuitem', { name: 'Pause' }).count(), 0);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Delete');
  assert.match(
    await page.locator('dialog').innerText(),
    /Cancel the job at the provider\?[\s\S]*Leave it there/,
  );
  await page.getByRole('button', { name: 'Cancel the job' }).click();
  await page.locator('.lane').nth(1).getByText('111 sent at half price').waitFor();
  assert.deepEqual(complaints, []);
  await close();
});

test('dead letters run again at half price, and back call by call', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze');
  await page.getByTestId('view-dead-letters').click();
  await page.locator('[data-cause=overloaded] .fix .btn').click();
  await dryRun(page, 'Will run\\s+5');
  const price = async () =>
    Number(/Expected\s+\$([\d.]+)/.exec(await page.getByTestId('dry-run').innerText())[1]);
  const whole = await price();
  await page.getByRole('radio', { name: 'Half price' }).click();
  await dryRun(page, 'Expected');
  const half = await price();
  assert.ok(Math.abs(half - whole / 2) < 0.02, `${half} is half of ${whole}`);
  await page.getByRole('radio', { name: 'Bulk' }).click();
  await dryRun(page, 'Expected');
  assert.equal(await price(), whole);
  await page.getByRole('radio', { name: 'Half price' }).click();
  await dryRun(page, 'Expected');
  await page.getByTestId('retry-start').click();
  await page.getByTestId('view-waiting').click();
  await page.locator('input[type=search], .search input').first().fill('rotation_comparison_3');
  const row = page.getByTestId('job-row').filter({ hasText: 'Half price' }).first();
  assert.match(await row.innerText(), /Collecting more jobs[\s\S]*Starts in/);
  assert.deepEqual(complaints, []);
  await close();
});

test('where the address has no batch API, the button runs its dead letters call by call, priced first', async () => {
  const query = 'freeze&dead=batches-not-offered&endpoint=litellm&baseUrl=http://localhost:4000';
  const { page, complaints, close } = await openWindow(browser, pages.address, query);
  await page.getByTestId('view-dead-letters').click();
  await page.getByRole('button', { name: 'Run 2 call by call…' }).click();
  await dryRun(page, 'Will run\\s+2');
  assert.ok(await page.getByRole('radio', { name: 'Bulk' }).isChecked());
  // They go at half price now: so it can be chosen, whatever is known of the address.
  await page.getByRole('radio', { name: 'Half price' }).waitFor();
  await page.getByTestId('retry-start').click();
  await page.getByText('2 jobs').first().waitFor();
  await page.getByTestId('view-all').click();
  const row = page.getByTestId('job-row').filter({ hasText: 'annual-report-2025' }).first();
  assert.match(await row.innerText(), /Bulk/);
  assert.deepEqual(complaints, []);
  await close();
});

test('Bulk is set to half price, its waiting jobs go along, and a wrong number is refused in words', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze');
  await page.getByTestId('settings-open').click();
  await page.locator('[data-pane=lanes]').click();
  await page.getByRole('radio', { name: 'Half price, by morning' }).click();
  await page.waitForFunction(
    () => document.querySelector('[role=radio][aria-checked=true]').textContent === 'Half price, by morning',
  );
  const together = page.getByLabel('Jobs sent together at most');
  await together.fill('200000');
  await together.press('Enter');
  await page.getByText('A whole number from 1 to 100,000.').waitFor();
  await together.fill('500');
  await together.press('Enter');
  const wait = page.getByLabel('Wait to be filled');
  await wait.fill('86401');
  await wait.press('Enter');
  await page.getByText('Seconds from 0 to 86,400.').waitFor();
  await wait.fill('1800');
  await wait.press('Enter');
  await page.keyboard.press('Escape');
  await page.getByTestId('view-waiting').click();
  const row = page.getByTestId('job-row').filter({ hasText: 'Collecting more jobs' }).first();
  assert.match(await row.innerText(), /Starts in 30:00/);
  assert.match(await row.innerText(), /Half price/);
  assert.deepEqual(complaints, []);
  await close();
});

test('a prompt may go at half price', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze&empty');
  await page.getByRole('button', { name: 'New prompt' }).click();
  await page.keyboard.type('Compare the three leases.');
  await page.getByRole('radio', { name: 'Half price' }).click();
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.getByTestId('job-row').filter({ hasText: 'Half price' }).waitFor();
  assert.deepEqual(complaints, []);
  await close();
});
