/** The measures of the design (section 3), and what has to hold still: looks that a change elsewhere breaks unseen. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openBrowser, openWindow, servePages } from './harness.mjs';

let pages;
let browser;
before(async () => {
  pages = await servePages();
  browser = await openBrowser();
});
after(async () => {
  await browser.close();
  await pages.close();
});

const box = (page, selector) =>
  page
    .locator(selector)
    .first()
    .evaluate((element) => {
      const { width, height } = element.getBoundingClientRect();
      return { width, height };
    });

test('the bars, columns and rows of the queue have the measures of the design', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze');
  await page.getByTestId('job-row').first().waitFor();
  const wanted = {
    '.side': { width: 204 },
    '.tool': { height: 48 },
    '.gauges': { height: 72 },
    '.why': { height: 34 },
    '.thead': { height: 28 },
    '.job': { height: 42 },
    '.job .l1': { height: 17 },
    '.tfoot': { height: 30 },
    '.detail': { width: 336 },
    '.tool .btn': { height: 28 },
    '.chip': { height: 24 },
  };
  for (const [selector, measures] of Object.entries(wanted)) {
    const found = await box(page, selector);
    for (const [side, size] of Object.entries(measures)) {
      assert.ok(
        Math.abs(found[side] - size) <= 1,
        `${selector} has the ${side} of the design: ${size}, not ${found[side]}`,
      );
    }
  }
  const columns = await page
    .getByTestId('job-row')
    .first()
    .evaluate((row) => [...row.children].map((cell) => Math.round(cell.getBoundingClientRect().width)));
  assert.deepEqual(
    [columns[0], ...columns.slice(2, 6)],
    [110, 36, 132, 68, 62],
    'status, pages, progress, cost and time have their widths, and the name of the file the rest',
  );
  await close();
});

test('the sheet has the size of the design', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze');
  await page.evaluate(() =>
    window.gistmillMock.drag({ type: 'drop', paths: ['/papers/Grid reliability reports'], x: 900, y: 380 }),
  );
  await page.getByTestId('sheet-start').waitFor();
  const sheet = await box(page, '.add');
  const right = await box(page, '.pf-r');
  assert.deepEqual(
    [Math.round(sheet.width), Math.round(sheet.height)],
    [1088, 768],
    'the sheet is 1088 x 768',
  );
  assert.equal(Math.round(right.width), 332, 'its right column is 332');
  await close();
});

test("a row's menu moves nothing under it", async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze');
  const row = page.getByTestId('job-row').filter({ hasText: 'hedgerow' });
  await row.click();
  const places = () =>
    page.evaluate(() =>
      ['.grid', '.detail', '.tfoot'].map((selector) => {
        const { x, y, width, height } = document.querySelector(selector).getBoundingClientRect();
        return [x, y, width, height].map(Math.round).join(' ');
      }),
    );
  const before = await places();
  await row.click({ button: 'right' });
  await page.getByRole('menu').waitFor();
  assert.deepEqual(await places(), before, 'table and details stay where they are');
  await close();
});

test('a press on a row selects it without the ring that keys draw', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze');
  const row = page.getByTestId('job-row').nth(3);
  const ring = () => row.evaluate((element) => getComputedStyle(element).outlineStyle);
  await row.click();
  assert.equal(await row.getAttribute('aria-selected'), 'true');
  assert.equal(await ring(), 'none', 'the pointer shows where it is; tint and edge show what is selected');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowUp');
  assert.equal(await ring(), 'solid', 'keys show where they are');
  await close();
});

test('what runs says the most it may cost', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze');
  const row = page.locator('[data-status=running]').first();
  assert.match(await row.innerText(), /up to \$\d+\.\d\d/);
  await row.click();
  await page
    .locator('.detail')
    .getByText(/1 of \d, up to \$\d+\.\d{4}/)
    .waitFor();
  await close();
});

test('nothing turns behind another window, and nothing at all where less motion is wanted', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze', {
    reducedMotion: 'no-preference',
  });
  const turning = () =>
    page
      .locator('.job .spin')
      .first()
      .evaluate((element) => {
        const { animationName, animationDuration, animationPlayState } = getComputedStyle(element);
        return [animationName, animationDuration, animationPlayState];
      });
  assert.deepEqual(await turning(), ['spin', '1.6s', 'running']);
  await page.evaluate(() => window.dispatchEvent(new Event('blur')));
  assert.equal((await turning())[2], 'paused', 'behind another window it stands still');
  await page.evaluate(() => window.dispatchEvent(new Event('focus')));
  assert.equal((await turning())[2], 'running', 'it goes on where it stopped');
  await page.emulateMedia({ reducedMotion: 'reduce' });
  assert.equal((await turning())[0], 'none', 'less motion: no turning');
  await close();
});
