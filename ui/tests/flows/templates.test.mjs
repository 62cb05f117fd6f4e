/** Templates, what they ask for, results that are reused, and jobs that run again though they are done. */
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

const DROP = { type: 'drop', paths: ['/home/mika/Documents/Grid reliability reports'], x: 1000, y: 300 };
const drop = async (page) => {
  await page.evaluate((event) => window.gistmillMock.drag(event), DROP);
  await page.getByTestId('sheet-start').waitFor();
};
const row = (page, text) => page.getByTestId('job-row').filter({ hasText: text });

test('a template with fields is written by keyboard, previewed and saved', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze');
  await page.getByTestId('settings-open').click();
  await page.locator('[data-pane=templates]').click();
  await page.getByRole('button', { name: 'New template' }).click();
  const sheet = page.getByRole('dialog', { name: 'New template' });
  const save = page.getByTestId('template-save');
  assert.ok(await save.isDisabled());
  await page.keyboard.type('Invoice');
  await sheet.getByRole('radio', { name: 'Fields' }).click();
  await sheet.getByLabel('Prompt').fill('Amounts in ');
  await sheet.getByRole('button', { name: 'Your own…' }).click();
  // The new variable's name is selected, so that it is typed over.
  await page.keyboard.type('currency');
  assert.equal(await sheet.getByLabel('Prompt').inputValue(), 'Amounts in {currency}');
  await page
    .getByTestId('template-problem')
    .getByText(/needs a name of letters/)
    .waitFor();
  assert.ok(await save.isDisabled());

  await sheet.getByLabel('Name', { exact: true }).nth(1).fill('total');
  await sheet.getByLabel('Holds').selectOption('number');
  await sheet.getByRole('button', { name: 'Add a field' }).click();
  await page.keyboard.type('supplier');
  await sheet.getByRole('button', { name: 'Move supplier up' }).press('Enter');
  assert.deepEqual(
    await sheet
      .locator('.tpl-fields li')
      .evaluateAll((each) => each.map((li) => li.querySelector('input').value)),
    ['supplier', 'total'],
  );
  await sheet.getByText('Asked for when files are added: {currency}').waitFor();
  await page.waitForFunction(() => !document.querySelector('[data-testid=template-save]').disabled);
  await page.keyboard.press('Control+Enter');
  await page.getByText('Invoice saved as version 1').waitFor();
  assert.match(await page.getByTestId('templates').innerText(), /Invoice\s+Fields\s+0\s+1/);
  assert.deepEqual(complaints, []);
  await close();
});

test('an edit makes a version; closing with changes asks; removing asks', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze');
  await page.getByTestId('settings-open').click();
  await page.locator('[data-pane=templates]').click();
  await page.getByRole('button', { name: 'Decisions and actions', exact: true }).click();
  const sheet = page.getByRole('dialog', { name: 'Edit template' });
  await sheet.getByText('Saving makes version 2.').waitFor();
  await sheet.getByLabel('Prompt').fill('List what was decided on {today}.');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog', { name: 'Close without saving?' }).getByText('Keep editing').click();
  await page.waitForFunction(() => !document.querySelector('[data-testid=template-save]').disabled);
  await page.getByTestId('template-save').click();
  await page.getByText('Decisions and actions saved as version 2').waitFor();

  await page.getByRole('button', { name: 'Actions for Lease abstract' }).click();
  await page.getByRole('menuitem', { name: 'Export…' }).click();
  await page.getByText('Template exported').waitFor();
  await page.getByRole('button', { name: 'Actions for Lease abstract' }).click();
  await page.getByRole('menuitem', { name: 'Remove…' }).click();
  await page.getByRole('button', { name: 'Remove the template' }).click();
  await page.getByText('Lease abstract removed').waitFor();
  assert.doesNotMatch(await page.getByTestId('templates').innerText(), /Lease abstract/);
  await page.getByRole('button', { name: 'Import…' }).click();
  await page.getByText('Audit findings imported').waitFor();
  assert.deepEqual(complaints, []);
  await close();
});

test('files that have a result cost nothing, unless they are asked again', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze');
  await drop(page);
  const reuse = page.getByTestId('reuse');
  await reuse.getByText('4 reused from earlier results, $0.00').waitFor();
  const reused = await page.locator('.sheet-f').innerText();
  await reuse.getByRole('checkbox', { name: 'Ask again anyway' }).click();
  await reuse.getByText('Every file is asked and paid again.').waitFor();
  await page.waitForFunction((before) => document.querySelector('.sheet-f').innerText !== before, reused);
  await reuse.getByRole('checkbox').click();
  await reuse.getByText('4 reused').waitFor();
  await page.getByTestId('sheet-start').click();
  await page.getByText('124 jobs added').waitFor();
  await page.getByTestId('view-done').click();
  await row(page, 'Grid reliability reports').first().filter({ hasText: 'Reused' }).waitFor();
  assert.deepEqual(complaints, []);
  await close();
});

test('a template asks for its values, and fields take Claude', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze');
  await drop(page);
  await page.getByRole('dialog').getByLabel('Template').selectOption('lease-abstract-v2');
  await page.getByText('5 columns of a table').waitFor();
  await page.getByLabel('currency').fill('EUR');
  await page.getByRole('radio', { name: /Offline summary/ }).check();
  await page.getByText('Lease abstract fills in fields, and only Claude can.').waitFor();
  assert.ok(await page.getByTestId('sheet-start').isDisabled());
  await page.getByRole('dialog').getByLabel('Template').selectOption('decisions-v1');
  await page.waitForFunction(() => !document.querySelector('[data-testid=sheet-start]').disabled);
  await close();
});

test('a reused result says so, leads to its source, and is run again for its price', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze');
  await row(page, 'peatland').click();
  await page.getByTestId('reused-from').filter({ hasText: '$0.00' }).waitFor();
  assert.match(await row(page, 'peatland').innerText(), /Reused/);
  await page.locator('.detail').getByRole('button', { name: 'Run again…' }).click();
  await page.getByTestId('dry-run').getByText('At worst').waitFor();
  assert.ok(await page.getByRole('checkbox', { name: 'Done jobs, too' }).isChecked());
  await page.getByTestId('retry-start').click();
  await row(page, 'peatland').filter({ hasText: 'Waiting' }).waitFor();
  assert.deepEqual(complaints, []);
  await close();
});

test('a done job runs again by key only after its price, and keeps its earlier result', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, '');
  await row(page, 'biochar').click();
  await page.keyboard.press('r');
  // An offline summary waits for no tokens.
  await page.getByRole('radio', { name: 'Offline summary' }).click();
  await page.waitForFunction(() => /At worst\s+\$0\.00/.test(document.querySelector('dialog').innerText));
  await page.keyboard.press('Control+Enter');
  await page.getByText('1 job back in the queue').waitFor();
  const older = page.getByTestId('older-results');
  await older.waitFor();
  await older.getByRole('button', { name: 'Open the result of run 1' }).click();
  assert.match((await page.evaluate(() => window.gistmillMock.opened))[0], /results\/.*\.md$/);
  assert.deepEqual(complaints, []);
  await close();
});
