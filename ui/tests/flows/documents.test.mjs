/** What a PDF is, told before and after: problems with their fix, passwords, parts, facts, and text in its place. */
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

const drop = async (page, folder) => {
  await page.evaluate(
    (path) => window.gistmillMock.drag({ type: 'drop', paths: [path], x: 1000, y: 300 }),
    `/home/mika/Documents/${folder}`,
  );
  await page.getByTestId('sheet-start').waitFor();
};
const group = (page, id) => page.locator(`[data-testid=found-group][data-group=${id}]`);
const row = (page, text) => page.getByTestId('job-row').filter({ hasText: text });

test('counts live while folders are still being looked through', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze&hold=walk');
  await page.evaluate(() =>
    window.gistmillMock.drag({ type: 'drop', paths: ['/home/mika/Documents/many'], x: 1000, y: 300 }),
  );
  const sheet = page.locator('dialog');
  await sheet.getByText('82 inspected').waitFor();
  assert.match(
    await sheet.innerText(),
    /Looking through folders… 1,240 found\s+82 inspected\s+2 can’t be used/,
  );
  // How long it takes is not known yet, so no share of it is told.
  assert.equal(await sheet.getByRole('progressbar').getAttribute('aria-valuenow'), null);
  await sheet.getByRole('button', { name: 'Cancel' }).click();
  assert.equal(await page.locator('dialog').count(), 0);
  await close();
});

test('every kind of trouble has its count, its meaning and its fix', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze');
  await drop(page, 'Grid troubles');
  const expected = {
    'pdf-encrypted': /3\s+Password-protected[\s\S]*locked with a password/,
    'not-a-pdf': /3\s+Not a PDF[\s\S]*Save or export the document as a PDF/,
    'pdf-truncated': /1\s+End is missing[\s\S]*Download or copy the file again/,
    'pdf-damaged': /1\s+Damaged PDF[\s\S]*print it to a new PDF/,
    'file-empty': /1\s+Empty file[\s\S]*no content/,
    'pdf-cipher-unknown': /1\s+Unknown encryption[\s\S]*not even with its password/,
    'pdf-hostile': /1\s+Dangerous PDF[\s\S]*Don’t trust this file/,
    'too-large': /1\s+File too large[\s\S]*Reduce its images/,
    long: /2\s+Asked in parts[\s\S]*each part is a call of its own/,
    scanned: /2\s+Scanned, without text/,
    duplicate: /1\s+Same content as another file here/,
    'not-a-file': /1\s+Not a file[\s\S]*Sockets/,
    'still-written': /1\s+Still being copied[\s\S]*Add them again/,
  };
  for (const [id, words] of Object.entries(expected))
    assert.match(await group(page, id).innerText(), words, `the group ${id}`);
  // The engine's own words tell a web page from a picture.
  await group(page, 'not-a-pdf').getByRole('button', { name: 'Show files' }).click();
  const files = page.getByRole('list', { name: 'Files: Not a PDF' });
  assert.match(
    await files.innerText(),
    /invoice-portal\.pdf\s+This is a web page[\s\S]*IMG_2210\.pdf\s+This is a PNG image/,
  );
  await group(page, 'duplicate').getByRole('button', { name: 'Show files' }).click();
  assert.match(
    await page.locator('dialog').innerText(),
    /backup\/grid-study_2026\.pdf\s+same as grid-study_2026\.pdf/,
  );
  assert.deepEqual(complaints, []);
  await close();
});

test('what is sent is counted by the provider; what can’t be is called estimated', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze');
  await drop(page, 'Grid troubles');
  const figures = page.getByTestId('plan-figures');
  await figures.getByText('input tokens, 8 of 10 files counted, the others estimated').waitFor();
  assert.match(
    await figures.innerText(),
    /10\s+files ready\s+1,\d{3}\s+pages\s+22\s+calls, 2 files asked in parts/,
  );
  await page.getByRole('radio', { name: /Offline summary/ }).check();
  assert.doesNotMatch(await figures.innerText(), /tokens|calls/);
  await close();
});

test('tokens that can’t be counted are still told, as estimated', async () => {
  const { page, complaints, close } = await openWindow(
    browser,
    pages.address,
    'freeze&fail=countTokens:provider-unavailable',
  );
  await drop(page, 'Grid troubles');
  await page.getByTestId('plan-figures').getByText('input tokens, estimated', { exact: true }).waitFor();
  assert.equal(await page.getByTestId('toast').count(), 0);
  assert.deepEqual(complaints, []);
  await close();
});

test('what the engine refuses to plan can’t be started, and its reason is said', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze&fail=planSubmission:bad-input');
  await drop(page, 'Grid troubles');
  assert.match(await page.locator('.pf-l [role=alert]').first().innerText(), /no space is left/);
  assert.ok(await page.getByTestId('sheet-start').isDisabled());
  assert.ok(await page.getByTestId('sheet-paused').isDisabled());
  await close();
});

test('a password is tried in the sheet: wrong, right for some, right for the rest', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze');
  await drop(page, 'Grid troubles');
  const field = page.getByLabel('Password', { exact: true });
  assert.equal(await field.getAttribute('type'), 'password');
  await field.fill('Sesame');
  await page.getByRole('button', { name: 'Show the password' }).click();
  assert.equal(await field.getAttribute('type'), 'text');
  await field.press('Enter');
  await page.getByText('The password opens none of the 3 files.').waitFor();
  assert.equal(await field.getAttribute('aria-invalid'), 'true');
  assert.equal(await page.getByTestId('sheet-start').innerText(), 'Start 10 jobs');

  // What was wrong is selected, so that it is typed over.
  await page.keyboard.type('sesame');
  await page.keyboard.press('Enter');
  await page.getByText('The password opens 2 files; 1 needs another one.').waitFor();
  assert.equal(await field.inputValue(), '', 'a password that opened something is not kept in the field');
  assert.equal(await page.getByTestId('sheet-start').innerText(), 'Start 12 jobs');
  assert.match(await group(page, 'unlocked').innerText(), /2\s+Opened with your password/);

  await field.fill('open');
  await page.keyboard.press('Enter');
  await page.getByText('The password opens 1 file.').waitFor();
  assert.equal(await group(page, 'pdf-encrypted').count(), 0);
  assert.equal(
    await page.evaluate(() => document.activeElement.dataset.testid),
    'unlock-outcome',
    'the focus stays in the sheet when the field goes',
  );
  assert.equal(await page.getByTestId('sheet-start').innerText(), 'Start 13 jobs');
  await page.keyboard.press('Control+Enter');
  await page.getByText('13 jobs added').waitFor();
  assert.deepEqual(complaints, []);
  await close();
});

test('ten thousand files are looked through as quickly as a hundred', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze');
  await drop(page, 'archive');
  assert.equal(await page.getByTestId('sheet-start').innerText(), 'Start 9,678 jobs');
  const began = Date.now();
  await group(page, 'pdf-encrypted').getByRole('button', { name: 'Show files' }).click();
  await page.getByRole('list', { name: 'Files: Password-protected' }).waitFor();
  const took = Date.now() - began;
  assert.ok(took < 2_000, `opening a group took ${took} ms`);
  const elements = await page.locator('dialog *').count();
  assert.ok(elements < 1_500, `the sheet holds ${elements} elements for 10,000 files`);
  await close();
});

test('a long document shows its parts, in its row and in its details', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze&parts');
  assert.match(await row(page, 'no-till').innerText(), /648\s+Part 3 of 7/);
  assert.match(await row(page, 'no-till').getAttribute('aria-label'), /Running, Part 3 of 7/);
  assert.match(await row(page, 'cover-crops').innerText(), /Combining the parts/);
  await row(page, 'no-till').click();
  const parts = page.getByTestId('parts');
  await parts.waitFor();
  assert.match(await parts.innerText(), /Parts\s+2 of 7 answered/i);
  assert.equal(await parts.getByRole('img').getAttribute('aria-label'), '2 of 7 parts answered, 1 running');
  assert.match(
    await parts.getByRole('listitem').nth(1).innerText(),
    /pages 101–200[\s\S]*its end is missing/i,
  );
  assert.match(await parts.getByRole('listitem').nth(6).innerText(), /pages 601–648\s+Waiting/i);
  const attempts = await page.locator('.tl').innerText();
  assert.match(attempts, /Running\s+pages 201–300[\s\S]*in, estimated[\s\S]*Done\s+pages 1–100/);
  await row(page, 'cover-crops').click();
  await page.locator('.tl').getByText('combining the parts').waitFor();
  assert.deepEqual(complaints, []);
  await close();
});

test('a document is told of: its first page, and what is remarkable about it', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze&parts');
  await row(page, 'no-till').click();
  await page.getByRole('img', { name: 'First page of no-till_vs_ploughed_30-year-plots.pdf' }).waitFor();
  const facts = (await page.getByTestId('document-facts').innerText()).replaceAll(/\s+/g, ' ');
  assert.match(facts, /Title Thirty years of tillage trials/);
  assert.match(facts, /Language English Text on 636 of 648 pages, 9 % of its characters unknown/);
  assert.match(facts, /Lock RC4 128-bit, opens without a password Attached 2 files, not sent/);
  assert.match(facts, /Form 3 filled-in fields may not be seen State A repaired copy is sent/);
  assert.match(facts, /Sent The PDF: text and pictures/);
  // What is unremarkable is not said.
  await row(page, 'rice-straw').click();
  await page.getByTestId('document-facts').getByText('on all 27 pages').waitFor();
  assert.doesNotMatch(await page.getByTestId('document-facts').innerText(), /Lock|Attached|Form|State/);
  assert.deepEqual(complaints, []);
  await close();
});

test('a page that can’t be drawn leaves a sign in its place', async () => {
  const { page, complaints, close } = await openWindow(
    browser,
    pages.address,
    'freeze&fail=pagePicture:internal',
  );
  await row(page, 'rice-straw').click();
  await page.getByRole('img', { name: 'No picture of the first page' }).waitFor();
  assert.equal(await page.getByTestId('toast').count(), 0);
  assert.deepEqual(complaints, []);
  await close();
});

test('dead letters that need a password are unlocked and run', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze');
  await page.getByTestId('view-dead-letters').click();
  const letters = page.locator('[data-testid=dead-letter-group][data-cause=pdf-encrypted]');
  await letters.getByRole('button', { name: 'Enter password…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Unlock 6 files' });
  assert.equal(await page.evaluate(() => document.activeElement.type), 'password');
  await page.keyboard.type('wrong');
  await page.keyboard.press('Enter');
  await dialog.getByText('The password opens none of the 6 files.').waitFor();
  await page.keyboard.type('sesame');
  await page.keyboard.press('Control+Enter');
  await page.getByText('5 jobs back in the queue').waitFor();
  assert.match(await page.getByTestId('toast').innerText(), /1 file needs another password/);
  assert.equal(await dialog.count(), 0);
  await letters.getByText('1 file,').waitFor();
  assert.deepEqual(complaints, []);
  await close();
});

test('one locked job is unlocked from its own page', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze');
  await page.getByTestId('view-dead-letters').click();
  await page.locator('[data-cause=pdf-encrypted] .ib').click();
  await page.locator('.fr-name').first().click();
  await page.getByTestId('reader').getByRole('button', { name: 'Enter password…' }).click();
  await page.keyboard.type('sesame');
  await page.keyboard.press('Enter');
  await page.getByText('1 job back in the queue').waitFor();
  await close();
});

test('a template may send the text only, and says so where it is chosen', async () => {
  const { page, complaints, close } = await openWindow(browser, pages.address, 'freeze');
  await page.getByTestId('settings-open').click();
  await page.locator('[data-pane=templates]').click();
  await page.getByRole('button', { name: 'New template' }).click();
  const sheet = page.getByRole('dialog', { name: 'New template' });
  await page.keyboard.type('Quick gist');
  await sheet.getByRole('radio', { name: 'Prose', exact: true }).click();
  await sheet.getByRole('radio', { name: 'Only its text' }).click();
  await sheet.getByText('Cheaper.').waitFor();
  await sheet.getByLabel('Prompt', { exact: true }).fill('Say in three sentences what it is about.');
  await page.waitForFunction(() => !document.querySelector('[data-testid=template-save]').disabled);
  await page.keyboard.press('Control+Enter');
  await page.getByText('Quick gist saved as version 1').waitFor();
  assert.match(await page.getByTestId('templates').innerText(), /Quick gist\s+Prose\s*· text only/);
  await page.keyboard.press('Escape');
  await drop(page, 'Grid reliability reports');
  await page.getByRole('dialog').getByLabel('Template').selectOption({ label: 'Quick gist · Prose' });
  await page.getByText('Only the text is sent, without pictures').waitFor();
  assert.deepEqual(complaints, []);
  await close();
});

test('an address that can’t read PDFs is sent their text', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze');
  await page.getByTestId('settings-open').click();
  await page.locator('.set-nav button').nth(1).click();
  const only = page.getByRole('switch', { name: 'This address can’t read PDFs: send their text' });
  assert.equal(await only.count(), 0, 'Anthropic itself reads PDFs');
  await page.getByLabel('Address', { exact: true }).fill('https://gateway.example.com');
  await page.keyboard.press('Enter');
  await only.click();
  assert.equal(await only.getAttribute('aria-checked'), 'true');
  assert.match(await page.locator('main').innerText(), /such as Ollama, drop PDFs unread/);
  await page.keyboard.press('Escape');
  await row(page, 'rice-straw').click();
  await page.getByText('sent as text').waitFor();
  await close();
});
