/** Sorting, filtering and moving what the list holds, and its manners when it is long. */
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

const row = (page, index) => page.locator(`[data-testid=job-row][aria-rowindex="${index + 2}"]`);
const idAt = (page, index) => row(page, index).getAttribute('data-job-id');

async function dragTo(page, from, to) {
  const [start, end] = [await from.boundingBox(), await to.boundingBox()];
  await page.mouse.move(start.x + 200, start.y + start.height / 2);
  await page.mouse.down();
  await page.mouse.move(start.x + 200, start.y + start.height / 2 + 8, { steps: 2 });
  await page.mouse.move(end.x + Math.min(200, end.width / 2), end.y + 3, { steps: 4 });
}

test('a column sorts, turns round and gives the usual order back', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze');
  const usual = await row(page, 0).innerText();
  const pagesOf = async () => (await page.locator('.job .c:nth-child(3) .l1').allInnerTexts()).map(Number);
  const head = page.getByRole('columnheader', { name: 'Pages' });
  await head.getByRole('button').click();
  await page.locator('[role=columnheader][aria-sort=descending]').waitFor();
  await page.waitForFunction(() => document.querySelector('.job .c:nth-child(3) .l1').innerText.length === 3);
  const most = await pagesOf();
  assert.deepEqual(
    most,
    [...most].sort((one, other) => other - one),
  );
  await head.getByRole('button').click();
  await page.locator('[role=columnheader][aria-sort=ascending]').waitFor();
  await page.waitForFunction(() => document.querySelector('.job .c:nth-child(3) .l1').innerText.length < 3);
  await head.getByRole('button').click();
  await page.waitForFunction(
    (text) => document.querySelector('[data-testid=job-row]').innerText === text,
    usual,
  );
  assert.equal(await page.locator('[aria-sort]').count(), 0);
  assert.deepEqual(complaints, []);
  await close();
});

test('a template and a time narrow the list, and everything that matches is what is acted on', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze');
  await page.getByRole('button', { name: 'Template', exact: true }).click();
  await page.getByRole('menuitemradio', { name: 'Lease abstract' }).click();
  await page.waitForFunction(() => !/^798 jobs/.test(document.querySelector('.tfoot').innerText));
  const shown = Number((await page.locator('.tfoot').innerText()).match(/^[\d,]+/)[0].replace(',', ''));
  await row(page, 0).click();
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Delete');
  const asked = await page.getByRole('dialog').innerText();
  const [able, other] = [...asked.matchAll(/(\d+)/g)].map(([digits]) => Number(digits));
  assert.ok(able > 0 && able <= shown, `${asked}: no more than the ${shown} that match`);
  assert.ok(other === undefined || other < shown);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: /Remove the filter Lease abstract/ }).click();
  await page.waitForFunction(() => /^798 jobs/.test(document.querySelector('.tfoot').innerText));
  await page.getByRole('button', { name: 'More filters', exact: true }).click();
  await page.getByRole('menuitemradio', { name: 'Offline summaries' }).click();
  await page.getByRole('button', { name: 'Remove the filter Offline summaries' }).waitFor();
  await close();
});

test('waiting jobs are dragged to another place of the line, and back by undo', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze');
  await page.getByTestId('view-waiting').click();
  await page.locator('[data-status=pending]').first().waitFor();
  const index = await page.evaluate(() => {
    const rows = [...document.querySelectorAll('[data-testid=job-row]')];
    return rows.findIndex((each) => /Bulk/.test(each.innerText));
  });
  const [first, third] = [await idAt(page, index), await idAt(page, index + 2)];
  await dragTo(page, row(page, index + 2), row(page, index));
  await page.locator('.drop-line').waitFor();
  await page.mouse.up();
  await page.getByText('1 job moved in the lane').waitFor();
  await page.waitForFunction(
    ([at, id]) => document.querySelector(`[aria-rowindex="${at + 2}"]`)?.dataset.jobId === id,
    [index, third],
  );
  assert.equal(await idAt(page, index + 1), first);
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.waitForFunction(
    ([at, id]) => document.querySelector(`[aria-rowindex="${at + 2}"]`)?.dataset.jobId === id,
    [index, first],
  );
  assert.deepEqual(complaints, []);
  await close();
});

test('a drag ends without a change at Escape, and says where places are moved', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze');
  await page.getByTestId('view-waiting').click();
  await page.locator('[data-status=pending]').first().waitFor();
  const first = await idAt(page, 0);
  await dragTo(page, row(page, 3), row(page, 0));
  await page.keyboard.press('Escape');
  await page.mouse.up();
  assert.equal(await page.locator('.dragged').count(), 0);
  assert.equal(await idAt(page, 0), first);
  await page.getByRole('columnheader', { name: 'File' }).getByRole('button').click();
  await page.locator('[aria-sort=ascending]').waitFor();
  await row(page, 1).click();
  await page.keyboard.press('Alt+ArrowUp');
  await page.getByText('Places are moved in the order of the queue only').waitFor();
  await page.getByRole('button', { name: 'Show in queue order' }).click();
  await page.waitForFunction(() => document.querySelectorAll('[aria-sort]').length === 0);
  await close();
});

test('a row is dragged onto a lane', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze');
  await page.getByTestId('view-waiting').click();
  const bulk = page.locator('[data-status=pending]', { hasText: 'Bulk' }).nth(2);
  await bulk.waitFor();
  const id = await bulk.getAttribute('data-job-id');
  const lane = page.locator('[data-lane=high]');
  await dragTo(page, bulk, lane);
  await page.locator('[data-lane=high].over').waitFor();
  await page.mouse.up();
  await page.getByText('1 job moved to High').waitFor();
  await page.waitForFunction(
    (jobId) => /High/.test(document.querySelector(`[data-job-id="${jobId}"]`)?.innerText ?? 'High'),
    id,
  );
  await close();
});

test('a hundred thousand jobs never hold up a key', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze&jobs=100000');
  await row(page, 0).waitFor();
  const seen = await page.evaluate(async () => {
    const list = document.querySelector('[role=grid]');
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    let [worst, most, last, over] = [0, 0, performance.now(), false];
    const beat = () => {
      worst = Math.max(worst, performance.now() - last);
      last = performance.now();
      if (!over) setTimeout(beat);
    };
    setTimeout(beat);
    const end = list.scrollHeight - list.clientHeight;
    for (let leap = 1; leap <= 60; leap += 1) {
      list.scrollTop = (end * leap) / 60;
      await frame();
      most = Math.max(most, list.querySelectorAll('[role=row]').length);
    }
    for (let step = 0; step < 60; step += 1) {
      list.scrollTop -= 126;
      await frame();
    }
    over = true;
    return { worst, most, end };
  });
  await row(page, 99_990).or(page.locator('[data-testid=job-row]').first()).first().waitFor();
  assert.ok(seen.end > 4_000_000, 'there is room for every row');
  assert.ok(seen.most < 70, `${seen.most} rows in the page`);
  // The goal is 100 ms in the real window (`make bench-window`); machines that test are slow and busy.
  assert.ok(seen.worst < 400, `nothing was heard for ${Math.round(seen.worst)} ms`);
  await close();
});

test('the place in a long list is told while its bar is dragged', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze&jobs=20000');
  await row(page, 0).waitFor();
  await page.evaluate(() => (document.querySelector('[role=grid]').scrollTop = 300_000));
  await page.locator('.scroll-tip').waitFor();
  await page.locator('.scroll-tip').waitFor({ state: 'detached' });
  await close();
});
