/** The table by keyboard, and at sizes that no table can hold in the page. */
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

const focusedIndex = (page) =>
  page.evaluate(() => Number(document.activeElement.getAttribute('aria-rowindex')));
const intoTable = async (page) => {
  await page.getByTestId('job-row').first().click();
};

test('arrows and letters move, Shift extends, Escape clears', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze');
  await intoTable(page);
  assert.equal(await focusedIndex(page), 2);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('j');
  assert.equal(await focusedIndex(page), 4);
  await page.keyboard.press('k');
  assert.equal(await focusedIndex(page), 3);
  await page.keyboard.press('Shift+ArrowDown');
  await page.keyboard.press('Shift+ArrowDown');
  assert.match(await page.locator('.tfoot').innerText(), /798 jobs, 3 selected/);
  await page.keyboard.press('Escape');
  assert.doesNotMatch(await page.locator('.tfoot').innerText(), /selected/);
  // Only one row is reached by Tab.
  assert.equal(await page.locator('[role=row][tabindex="0"]').count(), 1);
  assert.deepEqual(complaints, []);
  await close();
});

test('Enter reads, Escape comes back to the same row', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze');
  await page.getByTestId('job-row').filter({ hasText: 'biochar' }).click();
  await page.keyboard.press('Enter');
  await page.getByTestId('reader').waitFor();
  assert.match(await page.getByTestId('detail-summary').innerText(), /Biochar raises soil carbon/);
  await page.keyboard.press('Escape');
  const row = page.locator('[role=row][aria-selected=true]');
  await row.waitFor();
  assert.match(await row.innerText(), /biochar/);
  await close();
});

test('letters act on the selection', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze');
  const row = page.getByTestId('job-row').filter({ hasText: 'hedgerow' });
  await row.click();
  assert.match(await row.innerText(), /Retrying[\s\S]*Again in 0:42/);
  await page.keyboard.press('n');
  await page.getByText('1 job moved ahead').waitFor();
  await page.waitForFunction(() => /Waiting/.test(document.activeElement.textContent));
  await page.getByTestId('job-row').filter({ hasText: 'grazing' }).click();
  await page.keyboard.press('r');
  await page.getByText('1 job back in the queue').waitFor();
  await close();
});

test('cancelling a running call asks first', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze');
  await intoTable(page);
  await page.keyboard.press('Delete');
  await page.getByRole('dialog', { name: 'Cancel the running call?' }).waitFor();
  await page.getByText('Keep running').click();
  assert.equal(await page.getByTestId('job-row').first().getAttribute('data-status'), 'running');
  // The focus comes back to the row.
  assert.equal(await focusedIndex(page), 2);
  await close();
});

test('digits open the views, the slash searches', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze');
  await page.keyboard.press('4');
  await page.locator('[data-testid=job-row][data-status=needs-review]').first().waitFor();
  assert.match(await page.locator('.tfoot').innerText(), /13 jobs/);
  await page.keyboard.press('1');
  await page.keyboard.press('/');
  await page.keyboard.type('monograph');
  await page.waitForFunction(() => document.querySelectorAll('[data-testid=job-row]').length === 1);
  // Digits are text while one types.
  await page.keyboard.type(' 4');
  await page.getByText('No job matches').waitFor();
  await page.getByText('Show all jobs').click();
  await page.getByTestId('job-row').nth(5).waitFor();
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'All keys' }).waitFor();
  await close();
});

test('filters narrow the list and can be removed', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze');
  await page.getByRole('button', { name: 'Batch', exact: true }).click();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => /^64 jobs/.test(document.querySelector('.tfoot').innerText));
  await page.getByRole('button', { name: 'Remove the filter Lease abstracts Q1' }).click();
  await page.waitForFunction(() => /^798 jobs/.test(document.querySelector('.tfoot').innerText));
  await close();
});

test('a hundred thousand jobs: few rows in the page, all within reach', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze&jobs=100000');
  await intoTable(page);
  assert.equal(await page.locator('[role=grid]').getAttribute('aria-rowcount'), '100001');
  await page.keyboard.press('End');
  await page.waitForFunction(() => document.activeElement.getAttribute('aria-rowindex') === '100001');
  assert.ok((await page.getByTestId('job-row').count()) < 70);
  await page.keyboard.press('PageUp');
  await page.waitForFunction(() => Number(document.activeElement.getAttribute('aria-rowindex')) < 100_000);
  await page.keyboard.press('Home');
  await page.waitForFunction(() => document.activeElement.getAttribute('aria-rowindex') === '2');
  await close();
});

test('running jobs come on and end without a reload', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'jobs=40');
  const first = page.getByTestId('job-row').first();
  await page.waitForFunction(() =>
    /Writing, [\d,]+ tokens/.test(document.querySelector('[data-testid=job-row]').textContent),
  );
  const before = await first.innerText();
  await page.waitForTimeout(900);
  assert.notEqual(await first.innerText(), before);
  assert.deepEqual(complaints, []);
  await close();
});

test('in a narrow window Enter opens the details, Escape gives the row back', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze', {
    viewport: { width: 900, height: 600 },
  });
  assert.equal(await page.locator('.detail').count(), 0);
  await intoTable(page);
  await page.locator('.detail').waitFor();
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('.detail').count(), 0);
  assert.equal(await focusedIndex(page), 2);
  await page.keyboard.press('Enter');
  await page.locator('.detail').waitFor();
  await close();
});

test('a list that cannot be read says so and can be tried again', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze&fail=jobRows:storage');
  await page.getByText('The list could not be read').waitFor();
  assert.ok(await page.getByRole('button', { name: 'Try again' }).isVisible());
  await close();
});
