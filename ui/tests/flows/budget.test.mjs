/** Why nothing moves, what is used of limits and caps, and the settings that change both. */
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

const answers = (page) => page.getByTestId('answer');
const openPane = async (page, name) => {
  await page.getByTestId('settings-open').click();
  await page.getByRole('button', { name, exact: true }).click();
};

test('each lane says why it waits, and the gauge that holds it back is marked', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze');
  assert.match(
    await answers(page).nth(0).innerText(),
    /Why is High waiting\?[\s\S]*All tokens for this minute are in use\. The next start is in 0:\d\d/,
  );
  assert.match(await answers(page).nth(1).innerText(), /Why is Bulk waiting\?[\s\S]*High goes first/);
  const both = page.getByRole('meter', { name: 'Input and output tokens per minute' });
  assert.match(await both.getAttribute('aria-valuetext'), /397k of 400k/);
  assert.equal(await both.locator('.b-wait').count(), 1, 'at 95 % of its limit a gauge is marked');
  assert.equal(
    await page
      .getByRole('meter', { name: 'Output tokens per minute', exact: true })
      .locator('.b-wait')
      .count(),
    0,
  );
  await close();
});

test('a higher limit lets the lanes move', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze');
  await answers(page).nth(0).getByRole('button', { name: 'Change limit' }).click();
  await page.getByRole('heading', { name: 'Limits & budget' }).waitFor();
  const limit = page.getByLabel('Tokens per minute', { exact: true });
  await limit.fill('12');
  await limit.press('Enter');
  await page.getByText('A whole number from 1,000 to 1,000,000,000.').waitFor();
  await limit.fill('800,000');
  await limit.press('Enter');
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => !/Why is High waiting/.test(document.querySelector('.flow').innerText));
  assert.deepEqual(complaints, []);
  await close();
});

test('a reached cap stops the lanes, says what would help, and raising it does', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze&dayCap=14');
  const answer = answers(page).first();
  assert.match(
    await answer.innerText(),
    /Today’s cap of \$14\.00 is reached\. It opens again at 00:00; with \$\d+\.\d\d the next job could start now/,
  );
  assert.equal(await page.locator('[data-testid=gauge-money] .bar.over').count(), 1);
  await answer.getByRole('button', { name: 'Raise the cap' }).click();
  const cap = page.getByLabel('Spend cap per day');
  await cap.fill('lots');
  await cap.press('Enter');
  await page.getByText('An amount in dollars, such as 12.50.').waitFor();
  await cap.fill('60');
  await cap.press('Enter');
  await page.keyboard.press('Escape');
  await page.locator('[data-testid=gauge-money]').getByText('of $60.00').waitFor();
  assert.doesNotMatch(await answers(page).first().innerText(), /cap/);
  assert.deepEqual(complaints, []);
  await close();
});

test('outside Bulk hours Bulk waits, and the hours can be changed', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze&hours=22-7');
  const bulk = answers(page).filter({ hasText: 'Why is Bulk waiting?' });
  assert.match(await bulk.innerText(), /Bulk starts again at 22:00/);
  await bulk.getByRole('button', { name: 'Change hours' }).click();
  await page.getByLabel('Bulk ends at').fill('25:00');
  await page.getByLabel('Bulk ends at').press('Enter');
  await page.getByText('A time is written as 22:00.').waitFor();
  await page.getByRole('radio', { name: 'All day' }).click();
  await page.keyboard.press('Escape');
  await bulk.getByText('High goes first').waitFor();
  assert.deepEqual(complaints, []);
  await close();
});

test('without a connection it says when it looks again, and looks at once when asked', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze&circuit=offline');
  assert.equal(await answers(page).count(), 1, 'one reason for everything is said once');
  assert.match(
    await answers(page).innerText(),
    /No connection\. It is checked again in 0:20; nothing is lost/,
  );
  await answers(page).getByRole('button', { name: 'Check now' }).click();
  await page.waitForFunction(
    () => !/No connection/.test(document.querySelector('[data-testid=answer]')?.textContent ?? ''),
  );
  await close();
});

test('a full disk is the first reason of all', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze&storage&paused=high,bulk');
  assert.equal(await answers(page).count(), 1);
  assert.match(await answers(page).innerText(), /The disk is full[\s\S]*Free disk space/);
  await close();
});

test('a model without a price waits until it has one', async () => {
  const query = 'freeze&model=claude-new';
  const { page, complaints, close } = await openWindow(browser, pages.address, query);
  await page.keyboard.press('Control+o');
  await page.getByTestId('sheet-start').waitFor();
  assert.match(await page.locator('dialog').innerText(), /No price is known for this model/);
  await page.getByRole('button', { name: 'Set a price' }).click();
  await page.getByText('No price is known for claude-new.').waitFor();
  await page.getByRole('button', { name: 'Set a price' }).click();
  const sheet = page.getByRole('dialog', { name: 'Price of a model' });
  await sheet.getByLabel('Input').fill('2');
  await sheet.getByLabel('Output').fill('much');
  assert.ok(await sheet.getByRole('button', { name: 'Save' }).isDisabled());
  await sheet.getByLabel('Output').fill('8.50');
  await page.keyboard.press('Control+Enter');
  const line = page.locator('[data-model=claude-new]');
  await line.waitFor();
  assert.match(await line.innerText(), /Yours[\s\S]*\$2\.00[\s\S]*\$8\.50/);
  assert.deepEqual(complaints, []);
  await close();
});

test('a model is marked as free, that is undone, and an own price gives way to the shipped one', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze');
  await openPane(page, 'Prices');
  const line = page.locator('[data-model=claude-haiku-4-5]');
  const choose = async (name) => {
    await line.getByRole('button').click();
    await page.getByRole('menuitem', { name }).click();
  };
  await choose('Mark as free');
  await line.getByText('Free').waitFor();
  await page.getByTestId('toast').getByRole('button', { name: 'Undo' }).click();
  await line.getByText('$1.00').waitFor();
  await choose('Change…');
  await page.getByRole('dialog').getByLabel('Input').fill('0.90');
  await page.keyboard.press('Control+Enter');
  await line.getByText('$0.90').waitFor();
  await choose('Back to Gistmill’s own');
  await line.getByText('$1.00').waitFor();
  assert.equal(await line.getByText('Yours').count(), 0);
  assert.deepEqual(complaints, []);
  await close();
});

test('lanes are set, and the slots show at once', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze');
  await openPane(page, 'Lanes');
  const slots = page.getByLabel('Jobs at once').first();
  await slots.fill('251');
  await slots.press('Enter');
  await page.getByText('A whole number from 1 to 250.').waitFor();
  await slots.fill('20');
  await slots.press('Enter');
  const delay = page.getByLabel('Delay of new jobs').nth(1);
  await delay.fill('2.5');
  await delay.press('Enter');
  await page.waitForTimeout(100);
  // Away and back: what is shown is what is stored.
  await page.getByRole('button', { name: 'General', exact: true }).click();
  await page.getByRole('button', { name: 'Lanes', exact: true }).click();
  assert.equal(await slots.inputValue(), '20');
  assert.equal(await delay.inputValue(), '2.5');
  assert.deepEqual(complaints, []);
  await close();
});

test('the webhook: address, secret, batches, and how the last delivery went', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze&webhook=failing');
  await openPane(page, 'Notifications & webhook');
  assert.match(
    await page.getByTestId('webhook-delivery').innerText(),
    /3 messages wait[\s\S]*answered 503[\s\S]*Not delivered/,
  );
  const address = page.getByLabel('Webhook address');
  await address.fill('hooks.example.org');
  await address.press('Enter');
  await page.getByText('An address begins with https:// or http://.').waitFor();
  await address.fill('https://hooks.example.org/other');
  await address.press('Enter');
  await page.getByLabel('Signing secret').fill('whsec_example');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Messages are signed.').waitFor();
  assert.equal(await page.getByText('whsec_example').count(), 0, 'a secret is not shown again');
  await page.getByRole('switch', { name: 'Finished batches, too' }).click();
  assert.equal(
    await page.getByRole('switch', { name: 'Finished batches, too' }).getAttribute('aria-checked'),
    'true',
  );
  await page.getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await page.getByText('Messages are not signed.').waitFor();
  assert.deepEqual(complaints, []);
  await close();
});

test('ended jobs are removed after some days only when that was confirmed', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze');
  await page.getByTestId('settings-open').click();
  await page.locator('[data-pane=advanced]').click();
  const days = page.getByLabel('Keep ended jobs for');
  await days.fill('30');
  await days.press('Enter');
  await page.getByRole('dialog', { name: /ended more than 30 days ago/ }).waitFor();
  await page.keyboard.press('Escape');
  assert.equal(await days.inputValue(), '', 'nothing was set without a yes');
  await days.fill('30');
  await days.press('Enter');
  await page.getByRole('button', { name: 'Keep 30 days only' }).click();
  await page.waitForFunction(() =>
    [...document.querySelectorAll('.set input')].some((each) => each.value === '30'),
  );
  await close();
});

test('the price before: expected, at worst, and what a cap means for it', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze');
  await page.getByTestId('add-pdfs').click();
  await page.getByTestId('sheet-start').waitFor();
  const sheet = page.getByRole('dialog');
  await sheet
    .getByTestId('card-now')
    .getByTestId('caps')
    .getByText(/Fits what is left today, \$\d/)
    .waitFor();
  assert.match(await page.getByTestId('sheet-price').innerText(), /^\$0\.\d\d to \$0\.\d\d Bulk$/);
  assert.match(await page.getByTestId('ways').innerText(), /expected[\s\S]*at worst[\s\S]*done \d\d:\d\d/);
  await sheet.getByLabel('Spend cap for this batch').fill('x');
  await sheet.getByText('An amount in dollars, such as 12.50.').waitFor();
  assert.ok(await page.getByTestId('sheet-start').isDisabled());
  await sheet.getByLabel('Spend cap for this batch').fill('0.30');
  await sheet
    .getByTestId('card-now')
    .getByTestId('caps')
    .getByText(/of 2 (start within|would run)/)
    .waitFor();
  await page.getByTestId('sheet-price').getByText('cap $0.30').waitFor();
  await page.getByTestId('sheet-paused').click();
  await page.getByText('2 jobs added, paused').waitFor();
  const added = page.getByTestId('job-row').filter({ hasText: 'field-notes' });
  await added.filter({ hasText: 'Batch paused' }).waitFor();
  // The cap came with the batch.
  await page.getByRole('button', { name: 'Batch', exact: true }).click();
  await page.getByRole('menuitemradio', { name: /黒ボク土/ }).click();
  await page.getByTestId('batch-bar').getByText('of $0.30').waitFor();
  assert.deepEqual(complaints, []);
  await close();
});
