/** What jobs will come to before the start, and a few of them first. */
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

const drop = async (page) => {
  await page.evaluate(() =>
    window.gistmillMock.drag({ type: 'drop', paths: ['/home/mika/Grid reports'], x: 1000, y: 300 }),
  );
  await page.getByTestId('sheet-start').waitFor();
};

test('tokens are counted while the sheet is open, and nothing waits for that', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze&hold=count');
  await drop(page);
  const bar = page.getByTestId('plan-figures').getByRole('progressbar', { name: 'Counting tokens' });
  await page.getByTestId('plan-figures').getByText('100 of 120 counted').waitFor();
  assert.equal(await bar.getAttribute('aria-valuenow'), '100');
  await page.getByText('Input partly counted, output is a range').waitFor();
  assert.ok(await page.getByTestId('sheet-start').isEnabled());
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('dialog').count(), 0);
  assert.deepEqual(complaints, []);
  await close();
});

test('the way is chosen by when it ends and what it costs; half price only where it can be had', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze&batchCap=12');
  await drop(page);
  await page
    .getByTestId('card-now')
    .getByText(/done \d\d:\d\d/)
    .first()
    .waitFor();
  assert.ok(await page.getByRole('radio', { name: 'Bulk', exact: true }).isChecked());
  await page.getByRole('radio', { name: 'High', exact: true }).check();
  assert.match(await page.getByTestId('sheet-price').innerText(), /High/);
  const morning = page.getByTestId('card-morning');
  await morning.getByText(/often \d\d:\d\d/).waitFor();
  assert.match(await morning.innerText(), /By morning, half price[\s\S]*At the latest/);
  assert.match(await page.getByTestId('card-now').innerText(), /of 120 would run/);
  await page.getByRole('radio', { name: 'Bulk By morning, half price' }).check();
  assert.match(await page.getByTestId('sheet-price').innerText(), /by morning, cap \$12\.00/);
  await page.getByTestId('sheet-start').click();
  await page.getByText('124 jobs added').waitFor();
  const row = page.getByTestId('job-row').filter({ hasText: 'Waiting' }).first();
  await row.getByText('Half price').waitFor();
  assert.deepEqual(complaints, []);
  await close();

  const lane = await openWindow(browser, pages.address, 'freeze&batchLane');
  await drop(lane.page);
  await lane.page.getByTestId('card-morning').locator('.opt.on').waitFor();
  await lane.page.getByRole('radio', { name: 'Bulk', exact: true }).check();
  await lane.page.getByTestId('sheet-start').click();
  await lane.page.getByText('124 jobs added').waitFor();
  await lane.page.locator('[data-search]').fill('Grid reports');
  const first = lane.page.getByTestId('job-row').filter({ hasText: 'Grid reports' }).first();
  assert.match(await first.innerText(), /Bulk/, 'what was chosen comes before what is usual');
  assert.deepEqual(lane.complaints, []);
  await lane.close();

  const gateway = 'freeze&endpoint=litellm&baseUrl=http://localhost:4000';
  const without = await openWindow(browser, pages.address, gateway);
  await drop(without.page);
  await without.page
    .getByTestId('card-now')
    .getByText(/done \d\d:\d\d/)
    .first()
    .waitFor();
  assert.equal(await without.page.getByTestId('card-morning').count(), 0);
  await without.close();
});

test('an unknown price, a missing key and no connection are said, and jobs can be added', async () => {
  const unpriced = await openWindow(browser, pages.address, 'freeze&model=claude-unpriced');
  await drop(unpriced.page);
  await unpriced.page.getByText('Jobs for claude-unpriced wait until it has a price.').waitFor();
  assert.match(await unpriced.page.getByTestId('card-now').innerText(), /no price known/);
  await unpriced.close();

  const keyless = await openWindow(browser, pages.address, 'freeze&key=none&fail=countTokens:key-missing');
  await drop(keyless.page);
  await keyless.page.getByText('input tokens, estimated: counted when a key is set').waitFor();
  await keyless.page
    .getByText(/takes \d+:\d\d once it runs/)
    .first()
    .waitFor();
  assert.ok(await keyless.page.getByTestId('sheet-start').isEnabled());
  await keyless.close();

  const offline = await openWindow(
    browser,
    pages.address,
    'freeze&circuit=offline&fail=countTokens:provider-unavailable',
  );
  await drop(offline.page);
  await offline.page.getByText('input tokens, estimated: counted when online').waitFor();
  await offline.page
    .getByTestId('card-now')
    .getByText(/No connection/)
    .waitFor();
  await offline.close();
});

test('a pilot is asked for with a number, and the others wait for it', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze');
  await drop(page);
  const choice = page.getByTestId('pilot-choice');
  await choice.getByRole('switch', { name: 'Pilot' }).click();
  await choice.getByText(/^About \$\d.*release the other 115\.$/).waitFor();
  const files = choice.getByLabel('Files of the pilot');
  await files.fill('120');
  await choice.getByText('A whole number from 1 to 119.').waitFor();
  assert.ok(await page.getByTestId('sheet-start').isDisabled());
  await files.fill('3');
  assert.equal(await page.getByTestId('sheet-start').innerText(), 'Start pilot of 3');
  await page.getByTestId('sheet-start').click();
  await page.getByText('Pilot of 3 added, 117 wait for it').waitFor();
  await page.getByTestId('job-row').filter({ hasText: 'Waits for the pilot' }).first().waitFor();
  await page.locator('.bt-pilot').getByText('Pilot: 0 of 3 ended').waitFor();
  assert.deepEqual(complaints, []);
  await close();
});

test('an ended pilot is found from the answer line, and its rest is released', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze&pilot=ended');
  await page.locator('.bt-pilot').getByText('Pilot ended: your turn').waitFor();
  await page
    .getByTestId('answer')
    .getByRole('button', { name: /See the pilot/ })
    .click();
  const pilot = page.getByTestId('pilot');
  await pilot.getByText('4 done').waitFor();
  const said = await pilot.innerText();
  assert.match(said, /\$\d+\.\d\d[\s\S]*cost[\s\S]*1 to review/);
  assert.match(
    await page.getByTestId('pilot-rest').innerText(),
    /The other \d+[\s\S]*expected[\s\S]*measured by the pilot/,
  );
  await pilot.getByRole('button', { name: '1 to review' }).click();
  await page.getByTestId('job-row').first().waitFor();
  assert.equal(await page.getByTestId('job-row').count(), 1);
  await page.getByTestId('batch-bar').getByRole('button', { name: 'See the pilot' }).click();
  await page.getByTestId('pilot-release').click();
  await page.getByText(/\d+ jobs released/).waitFor();
  await page.waitForFunction(() => !document.querySelector('[data-testid=pilot]'));
  assert.equal(await page.locator('.bt-pilot').count(), 0);
  assert.deepEqual(complaints, []);
  await close();
});

test('the rest of a pilot can be cancelled after a question', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze&pilot=running');
  await page.locator('.bt-report').first().click();
  await page.getByTestId('pilot').getByRole('progressbar', { name: 'Pilot' }).waitFor();
  await page.getByTestId('pilot-cancel').click();
  const question = page.getByRole('dialog');
  assert.match(await question.innerText(), /Cancel \d+ jobs that wait\?[\s\S]*cost nothing/);
  await question.getByRole('button', { name: 'Keep waiting' }).click();
  assert.equal(await page.getByTestId('pilot').count(), 1);
  await page.getByTestId('pilot-cancel').click();
  await question.getByRole('button', { name: /^Cancel \d+ jobs$/ }).click();
  await page.getByText(/\d+ jobs cancelled/).waitFor();
  await page.waitForFunction(() => !document.querySelector('[data-testid=pilot]'));
  assert.deepEqual(complaints, []);
  await close();
});

test('the rest of a failed pilot goes on with another model, priced first', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze&pilot=failed');
  await page.locator('.bt-report').first().click();
  await page
    .getByTestId('pilot')
    .getByText(/No job of the pilot was answered/)
    .waitFor();
  await page.getByTestId('pilot-change').click();
  const sheet = page.getByRole('dialog');
  const rest = sheet.getByTestId('pilot-rest');
  await rest.getByText('measured by the pilot', { exact: true }).waitFor();
  const before = await rest.innerText();
  await sheet.getByLabel('Model').fill('claude-haiku-4-5');
  await rest.getByText(/the pilot measures nothing of it/).waitFor();
  assert.notEqual(await rest.innerText(), before);
  await sheet.getByTestId('pilot-release-changed').click();
  await page.getByText(/\d+ jobs released/).waitFor();
  assert.equal(await page.locator('dialog').count(), 0);
  assert.deepEqual(complaints, []);
  await close();
});
