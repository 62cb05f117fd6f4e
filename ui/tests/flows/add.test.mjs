/** From a drop to jobs. */
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

const drag = (page, event) => page.evaluate((given) => window.gistmillMock.drag(given), event);
const FOLDER = ['/home/mika/Documents/Grid reliability reports'];

test('the zone under the pointer chooses the lane', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze');
  await drag(page, { type: 'enter', paths: FOLDER, x: 200, y: 300 });
  assert.match(await page.locator('.zone.over').innerText(), /High[\s\S]*Release/);
  await drag(page, { type: 'over', x: 1000, y: 300 });
  assert.match(await page.locator('.zone.over').innerText(), /Bulk[\s\S]*Release/);
  await drag(page, { type: 'leave' });
  assert.equal(await page.locator('.drop').count(), 0);
  await drag(page, { type: 'enter', paths: FOLDER, x: 200, y: 300 });
  await drag(page, { type: 'drop', paths: FOLDER, x: 200, y: 300 });
  await page.getByTestId('sheet-start').waitFor();
  assert.ok(await page.getByRole('radio', { name: 'High', exact: true }).isChecked());
  assert.match(
    await page.locator('dialog').innerText(),
    /4 files can’t work[\s\S]*Password-protected[\s\S]*6 left out/,
  );
  await page.getByText('Show files').first().click();
  assert.equal(await page.locator('.pb-files li').count(), 2);
  await page.keyboard.press('Control+Enter');
  await page.getByText('124 jobs added').waitFor();
  assert.match(await page.locator('.lane').first().innerText(), /124 waiting/);
  assert.deepEqual(complaints, []);
  await close();
});

test('a scan can be called off, and nothing is added', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze&hold=scan');
  await drag(page, { type: 'drop', paths: FOLDER, x: 1000, y: 300 });
  await page.getByText('82 of 134 files inspected').waitFor();
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('dialog').count(), 0);
  assert.match(await page.locator('.tfoot').innerText(), /798 jobs/);
  assert.equal(await page.getByTestId('toast').count(), 0);
  await close();
});

test('a drop without PDFs says what was found', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze');
  await drag(page, { type: 'drop', paths: ['/home/mika/empty'], x: 1000, y: 300 });
  await page.getByText('No PDFs in this drop').waitFor();
  assert.equal(await page.getByTestId('sheet-start').count(), 0);
  await close();
});

test('without a key the jobs wait for one, and offline is one press away', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze&key=none');
  await page.keyboard.press('Control+o');
  await page.getByTestId('sheet-start').waitFor();
  assert.equal(await page.getByTestId('sheet-start').innerText(), 'Add 2, run after a key is set');
  await page.getByRole('radio', { name: /Offline summary/ }).check();
  assert.equal(await page.getByTestId('sheet-start').innerText(), 'Start 2 jobs');
  assert.match(await page.locator('.sheet-f').innerText(), /Free, on this computer/);
  await close();
});

test('a failed submission keeps the sheet and says what to do', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze&fail=submitScan:storage');
  await page.getByTestId('add-pdfs').click();
  await page.getByTestId('sheet-start').click();
  assert.match(await page.getByTestId('toast').innerText(), /no space is left[\s\S]*Free disk space/);
  // Over the sheet, not behind it.
  assert.equal(await page.locator('dialog [data-testid=toast]').count(), 1);
  assert.ok(await page.getByTestId('sheet-start').isVisible());
  await close();
});

test('pasted paths are added', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze');
  await page.evaluate(() => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', '/home/mika/a.pdf\nfile:///home/mika/b%20c.pdf');
    window.dispatchEvent(new ClipboardEvent('paste', { clipboardData }));
  });
  await page.getByTestId('sheet-start').waitFor();
  assert.equal(await page.getByTestId('sheet-start').innerText(), 'Start 2 jobs');
  await close();
});

test('a prompt becomes a job', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'empty&freeze');
  await page.getByRole('button', { name: 'New prompt' }).click();
  assert.equal(await page.evaluate(() => document.activeElement.tagName), 'TEXTAREA');
  assert.ok(await page.getByRole('button', { name: 'Start', exact: true }).isDisabled());
  await page.keyboard.type('Compare the three leases.');
  await page.keyboard.press('Control+Enter');
  await page.getByTestId('job-row').filter({ hasText: 'Compare the three leases.' }).waitFor();
  await close();
});

test('files that the program was opened with go to the sheet', async () => {
  const { page, complaints, close } = await openWindow(
    browser,
    pages.address,
    `freeze&handed=${encodeURIComponent(FOLDER[0])}`,
  );
  await page.getByTestId('sheet-start').waitFor();
  assert.equal(await page.getByTestId('sheet-start').innerText(), 'Start 124 jobs');
  assert.deepEqual(complaints, []);
  await close();
});
