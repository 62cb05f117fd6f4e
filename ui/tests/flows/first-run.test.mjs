/** A person starts Gistmill for the first time. */
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

test('from pasting a key to the first jobs', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'welcome');
  // The field has the focus: pasting needs no click.
  assert.equal(await page.evaluate(() => document.activeElement.dataset.testid), 'welcome-key-input');
  await page.keyboard.type('sk-ant-example-7Q2f');
  await page.keyboard.press('Enter');
  await page.getByText('Ends in 7Q2f').waitFor();
  await page.getByText('The key works').waitFor();
  await page.getByText('or choose files').click();
  await page.getByTestId('sheet-start').click();
  await page.getByTestId('job-row').first().waitFor();
  assert.equal(await page.getByTestId('job-row').count(), 2);
  assert.match(await page.getByTestId('toast').innerText(), /2 jobs added/);
  assert.deepEqual(complaints, []);
  await close();
});

test('a refused key says so and can be replaced', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'welcome');
  await page.getByTestId('welcome-key-input').fill('sk-ant-nope');
  await page.getByTestId('welcome-save').click();
  await page.getByText('The provider refused the key (401).').waitFor();
  await page.getByText('Use another key').click();
  await page.getByTestId('welcome-key-input').fill('sk-ant-example-7Q2f');
  await page.getByTestId('welcome-save').click();
  await page.getByText('The key works').waitFor();
  await close();
});

test('without a key: the offline summary, all the way', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'welcome');
  await page.getByTestId('welcome-offline').click();
  await page.getByText('Drop PDFs or whole folders').waitFor();
  await page.getByTestId('add-pdfs').click();
  assert.equal(await page.getByTestId('sheet-start').innerText(), 'Start 2 jobs');
  assert.ok(await page.getByRole('radio', { name: /Offline summary/ }).isChecked());
  await page.getByTestId('sheet-start').click();
  await page.locator('[data-testid=job-row][data-status=completed]').first().click();
  await page.getByTestId('detail-summary').waitFor();
  assert.ok(await page.locator('.detail .offline-label').isVisible());
  await close();
});

test('without a keychain the key is kept for the session, and it says so', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'welcome&key=no-keychain');
  await page.getByText('No secret service answers').waitFor();
  await page.getByTestId('welcome-key-input').fill('sk-ant-example-7Q2f');
  await page.getByTestId('welcome-save').click();
  await page.getByText('Key kept in memory until Gistmill closes').waitFor();
  await close();
});

test('a model that the key may not use is replaced by one it may', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'welcome&model=claude-gone');
  await page.getByTestId('welcome-key-input').fill('sk-ant-example-7Q2f');
  await page.getByTestId('welcome-save').click();
  await page.getByRole('button', { name: 'Use claude-opus-4-6' }).click();
  await page.getByText('Drop PDFs here').waitFor();
  await close();
});
