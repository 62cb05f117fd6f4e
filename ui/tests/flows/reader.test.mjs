/** The reader: what a summary names of its PDF is opened and marked there, and what can't be shown says why. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { openBrowser, openWindow, servePages } from './harness.mjs';

let pages, browser, axe;
before(async () => {
  pages = await servePages();
  browser = await openBrowser();
  axe = await readFile(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
});
after(async () => {
  await browser.close();
  await pages.close();
});

async function openReader(query = '', { title = 'grazing', ...options } = {}) {
  const opened = await openWindow(browser, pages.address, `freeze&${query}`, options);
  opened.page.setDefaultTimeout(8000);
  const row = opened.page.locator('[data-testid=job-row]', { hasText: title }).first();
  if (options.viewport) {
    // A narrow window shows the details first.
    await row.click({ position: { x: 140, y: 12 } });
    await opened.page.getByTestId('detail-summary').waitFor();
    await opened.page.keyboard.press('Enter');
  } else await row.dblclick();
  await opened.page.getByTestId('reader').waitFor();
  return opened;
}

const pageOpen = (page, number) => page.locator(`[data-testid=pdf-page][data-page="${number}"]`);

test('a chip opens its page, and the words quoted from it are marked there', async () => {
  const { page, complaints, close } = await openReader();
  await pageOpen(page, 1).waitFor();
  await page.locator('.qt').first().locator('.cite').click();
  await pageOpen(page, 7).waitFor();
  const mark = page.getByTestId('passage').first();
  await mark.waitFor();
  assert.equal(await page.getByTestId('passage-note').textContent(), 'Cited passage highlighted');
  const [box, words] = [
    await mark.boundingBox(),
    await page.locator('.paper-text').getByText('Grazing intensity, not the kind').last().boundingBox(),
  ];
  assert.ok(Math.abs(box.y - words.y) < 12, 'the mark lies on the words of the page');
  assert.match(await page.locator('.qt').first().innerText(), /Found word for word/);
  assert.deepEqual(complaints, [], 'nothing of pdf.js is refused by the window’s policy');
  await close();
});

test('a page that is named without a quote is opened without a mark, and that is said', async () => {
  const { page, close } = await openReader();
  await page.locator('.cite', { hasText: 'p. 4' }).click();
  await pageOpen(page, 4).waitFor();
  assert.match(await page.getByTestId('passage-note').textContent(), /without a quote/);
  assert.equal(await page.getByTestId('passage').count(), 0, 'nothing is marked that is not certain');
  await close();
});

test('a quote that differs shows and marks the PDF’s own words, which can be copied', async () => {
  const { page, close } = await openReader('', { permissions: ['clipboard-read', 'clipboard-write'] });
  const quote = page.locator('.qt').nth(1);
  await quote.getByRole('button', { name: 'Copy the PDF’s words' }).click();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.equal(copied, 'Nearly half of the sites were not measured in winter');
  assert.equal(await page.getByTestId('quotes-said').innerText(), '1 of 3 quotes differs');
  await quote.locator('.cite').click();
  await pageOpen(page, 9).waitFor();
  await page.getByTestId('passage').first().waitFor();
  await close();
});

test('brackets walk the citations, pages are turned, and zoom changes the page', async () => {
  const { page, close } = await openReader();
  await pageOpen(page, 1).waitFor();
  await page.locator('.qt').first().waitFor();
  await page.keyboard.press(']');
  await pageOpen(page, 4).waitFor();
  await page.keyboard.press(']');
  await pageOpen(page, 12).waitFor();
  await page.keyboard.press('[');
  await pageOpen(page, 4).waitFor();
  await page.getByRole('button', { name: 'Next page' }).click();
  await pageOpen(page, 5).waitFor();
  const before = (await pageOpen(page, 5).boundingBox()).width;
  await page.getByRole('button', { name: 'Zoom in' }).click();
  await page.waitForFunction(
    (width) => document.querySelector('.paper').getBoundingClientRect().width > width,
    before,
  );
  await close();
});

test('without single keys, brackets and letters do nothing in the reader', async () => {
  const { page, close } = await openReader('noSingleKeys');
  await pageOpen(page, 1).waitFor();
  await page.locator('.qt').first().waitFor();
  await page.keyboard.press(']');
  await page.keyboard.press('j');
  await page.waitForTimeout(200);
  assert.equal(await pageOpen(page, 1).count(), 1, 'the first page stays');
  await page.keyboard.press('Escape');
  await page.getByTestId('job-row').first().waitFor();
  await close();
});

test('a job is marked as reviewed, and that is taken back', async () => {
  const { page, close } = await openReader();
  await page.getByTestId('mark-reviewed').click();
  await page.locator('.reader .badge', { hasText: 'Done' }).waitFor();
  await page.getByTestId('toast').getByRole('button', { name: 'Undo' }).click();
  await page.locator('.reader .badge', { hasText: 'Needs review' }).waitFor();
  await page.getByTestId('mark-reviewed').waitFor();
  await close();
});

test('a PDF in Japanese that brings no fonts is read with the tables that come along', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze');
  await page.getByTestId('view-done').click();
  await page.locator('[data-search]').fill('長期連用');
  await page.locator('[data-testid=job-row]:visible', { hasText: '長期連用' }).first().dblclick();
  await page.locator('.qt .cite').first().click();
  await pageOpen(page, 11).waitFor();
  await page.getByTestId('passage').first().waitFor();
  assert.deepEqual(complaints, []);
  await close();
});

for (const [trouble, said] of [
  ['file-missing', /not where it was/],
  ['file-changed', /changed after it was added/],
  ['locked', /locked with a password/],
  ['broken', /too broken/],
]) {
  test(`a PDF that is ${trouble} says so, and the summary stays`, async () => {
    const { page, close } = await openReader(`pdf=${trouble}`);
    await page.getByTestId('pdf-trouble').waitFor();
    assert.match(await page.getByTestId('pdf-trouble').innerText(), said);
    assert.match(await page.getByTestId('detail-summary').innerText(), /Moderate grazing/);
    const outside = page.getByTestId('pdf-trouble').getByRole('button', { name: 'Open in PDF reader' });
    assert.equal(await outside.count(), trouble === 'file-missing' ? 0 : 1);
    await close();
  });
}

test('in a small window the summary and the PDF take turns', async () => {
  const { page, close } = await openReader('', { viewport: { width: 760, height: 520 } });
  assert.equal(await page.locator('.desk').isVisible(), false);
  await page.locator('.qt').first().locator('.cite').click();
  await pageOpen(page, 7).waitFor();
  assert.equal(await page.getByTestId('detail-summary').isVisible(), false, 'a chip turns to the PDF');
  await page.getByRole('radio', { name: 'Summary' }).click();
  await page.getByTestId('detail-summary').waitFor();
  await close();
});

for (const theme of ['light', 'dark']) {
  test(`the reader has no accessibility violation, ${theme}`, async () => {
    const { page, close } = await openReader(`theme=${theme}`, { bypassCSP: true, colorScheme: theme });
    await page.locator('.qt').nth(1).locator('.cite').click();
    await page.getByTestId('passage').first().waitFor();
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => window.axe.run());
    assert.deepEqual(
      violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 120)).join(' ')}`),
      [],
    );
    await close();
  });
}
