/** Nothing fails in silence: what the engine refuses is said where it was asked, what nobody expected in an overlay. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
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

const overlay = (page) => page.getByRole('alertdialog');

async function raw(query, prepare, options = {}) {
  const context = await browser.newContext({
    permissions: ['clipboard-read', 'clipboard-write'],
    ...options,
  });
  const page = await context.newPage();
  await prepare?.(page);
  await page.goto(`${pages.address}?${query}`);
  return { page, close: () => context.close() };
}

for (const method of ['settings', 'overview', 'endpoint', 'templates']) {
  test(`a window that can’t read its ${method} says so and can be reloaded`, async () => {
    const { page, close } = await raw(`freeze&fail=${method}:newer-database`);
    await overlay(page).waitFor();
    const said = await overlay(page).innerText();
    assert.match(said, /Your jobs are safe/, 'what it means for the jobs');
    assert.match(said, /newer-database/, 'the code for a report');
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Reload the window');
    await close();
  });
}

test('the diagnostics of an error are copied in full', async () => {
  const { page, close } = await raw('freeze');
  await page.locator('main').waitFor();
  await page.evaluate(() => setTimeout(() => JSON.parse('{ no'), 0));
  await overlay(page).waitFor();
  await page.getByRole('button', { name: 'Copy diagnostics' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(copied, /SyntaxError/, 'what happened');
  assert.match(copied, /Web view: /, 'and where');
  await page.getByRole('button', { name: 'Close' }).click();
  assert.equal(await overlay(page).count(), 0, 'the window can be used again');
  await page.getByTestId('view-done').click();
  await close();
});

test('an error while an event of the engine is heard is shown', async () => {
  const { page, close } = await raw('freeze');
  await page.getByTestId('job-row').first().waitFor();
  await page.evaluate(() => {
    setTimeout(() => window.gistmillMock.emit({ event: 'jobs-changed' }), 0);
  });
  await overlay(page).waitFor();
  assert.match(await overlay(page).innerText(), /TypeError/);
  await close();
});

test('a rejection that nobody caught is shown, and only once', async () => {
  const { page, close } = await raw('freeze');
  await page.locator('main').waitFor();
  await page.evaluate(() => {
    for (const reason of ['first', 'second']) void Promise.reject(new Error(reason));
  });
  await overlay(page).waitFor();
  await page.waitForTimeout(100);
  assert.equal(await overlay(page).count(), 1);
  assert.match(await overlay(page).innerText(), /first/);
  await close();
});

test('a script that does not load is named', async () => {
  const { page, close } = await raw('freeze', (fresh) =>
    fresh.route('**/assets/index-*.js', (route) => route.abort()),
  );
  await overlay(page).waitFor();
  assert.match(await overlay(page).innerText(), /Not loaded: .*index-/);
  await close();
});

test('the overlay keeps the focus', async () => {
  const { page, close } = await raw('freeze');
  await page.locator('main').waitFor();
  await page.evaluate(() => void Promise.reject(new Error('first')));
  await overlay(page).waitFor();
  for (let at = 0; at < 6; at += 1) {
    await page.keyboard.press('Tab');
    assert.ok(
      await overlay(page).evaluate((panel) => panel.contains(document.activeElement)),
      `Tab ${at + 1} stays in the overlay`,
    );
  }
  await page.keyboard.press('Escape');
  assert.equal(await overlay(page).count(), 0, 'Esc closes it');
  await close();
});

test('in the Japanese window the words are Japanese and the engine’s stay below', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze&lang=ja&fail=pauseLane:storage');
  await page.locator('.lane .ib').first().click();
  const toast = page.locator('.toast');
  await toast.waitFor();
  const said = await toast.innerText();
  assert.match(said, /ディスク[\s\S]*The results folder can’t be written/, said);
  await close();
});

/* One failing command each: how a person comes to ask for it. */
const settings = (pane) => async (page) => {
  await page.getByTestId('settings-open').click();
  await page.locator(`[data-pane=${pane}]`).click();
};
const then =
  (...steps) =>
  async (page) => {
    for (const step of steps) await step(page);
  };
const press = (name) => (page) => page.getByRole('button', { name, exact: true }).first().click();
const key = (text) => (page) => page.keyboard.press(text);
const row = (words) => (page) => page.getByTestId('job-row').filter({ hasText: words }).click();
const fill = (locator, text) => (page) => page.locator(locator).first().fill(text);
const command = (words) => async (page) => {
  await page.keyboard.press('Control+k');
  await page.locator('.palette input').fill(words);
  await page.keyboard.press('Enter');
};
const drop =
  (path = '/home/mika/Documents/Grid reports') =>
  (page) =>
    page.evaluate((each) => window.gistmillMock.drag({ type: 'drop', paths: [each], x: 1000, y: 300 }), path);
const dead = (page) => page.getByTestId('view-dead-letters').click();
const report = (page) => page.evaluate(() => document.querySelector('.bt-report').click());
const inDialog = (name) => (page) => page.getByRole('dialog').getByRole('button', { name }).first().click();
const templateMenu = (entry) =>
  then(
    settings('templates'),
    (page) => page.locator('[data-template] .ib').last().click(),
    (page) => page.getByRole('menuitem', { name: entry }).click(),
  );
const endpointOther = then(
  settings('models'),
  (page) => page.getByTestId('endpoint').locator('select').selectOption('other'),
  fill('.ep-draft input', 'https://gateway.example.com'),
  (page) => page.locator('.ep-draft .btn-primary').click(),
);

const COMMANDS = {
  reading: [then(row('biochar'), key('Enter'))],
  openDocument: [then(row('biochar'), key('Enter'))],
  documentBytes: [then(row('biochar'), key('Enter'))],
  about: [settings('advanced')],
  jobRows: [() => undefined],
  jobs: [then(dead, (page) => page.locator('[data-cause=overloaded] .ib').click())],
  jobIds: [then(row('biochar'), key('Shift+End')), 'jobs=5000'],
  job: [row('biochar')],
  deadLetters: [dead],
  planRetry: [then(dead, (page) => page.locator('.tool .btn').click())],
  retry: [then(row('grazing'), key('r'))],
  planAction: [then(row('biochar'), key('Control+a'), key('Space'))],
  applyAction: [then(row('hedgerow'), key('n'))],
  moveJobs: [
    then(
      (page) => page.getByTestId('view-waiting').click(),
      (page) => page.locator('[data-status=pending]').nth(2).click(),
      key('Alt+ArrowUp'),
    ),
  ],
  unlockJobs: [
    then(
      dead,
      (page) => page.locator('[data-cause=pdf-encrypted] .fix .btn').click(),
      fill('dialog input', 'sesame'),
      key('Enter'),
    ),
  ],
  exportJobs: [then((page) => page.getByTestId('export-all').click(), key('Control+Enter'))],
  batchReport: [report],
  pauseBatch: [command('pause soil')],
  setBatchCap: [then(command('cap soil'), fill('dialog input', '5'), key('Control+Enter'))],
  pilot: [report, 'pilot=ended'],
  releasePilot: [
    then(
      report,
      (page) => page.getByTestId('pilot-rest').locator('.w').waitFor(),
      (page) => page.locator('[data-testid=report] .btn-primary').first().click(),
    ),
    'pilot=ended',
  ],
  cancelBehindPilot: [
    then(
      report,
      (page) => page.getByTestId('pilot-rest').locator('.w').waitFor(),
      (page) =>
        page
          .getByTestId('report')
          .getByRole('button', { name: /^Cancel/ })
          .first()
          .click(),
      (page) => page.getByRole('dialog').locator('[data-primary]').click(),
    ),
    'pilot=ended',
  ],
  pauseLane: [(page) => page.locator('.lane .ib').first().click()],
  saveLane: [then(settings('lanes'), fill('.set input', '7'), key('Enter'))],
  closeCircuit: [
    (page) => page.getByTestId('answer').getByRole('button').first().click(),
    'circuit=overloaded',
  ],
  createTemplate: [
    then(
      command('new template'),
      fill('.tpl-prompt', 'List the risks.'),
      fill('dialog input', 'Risks'),
      (page) => page.locator('[data-primary]:not([disabled])').click(),
    ),
  ],
  editTemplate: [
    then(command('edit lease abstract'), fill('.tpl-prompt', 'List the risks.'), (page) =>
      page.locator('[data-primary]:not([disabled])').click(),
    ),
  ],
  duplicateTemplate: [templateMenu('Duplicate')],
  removeTemplate: [then(templateMenu(/Remove/), inDialog(/Remove/))],
  previewTemplate: [then(command('new template'), fill('.tpl-prompt', 'List the risks.'))],
  importTemplate: [then(settings('templates'), press('Import…'))],
  exportTemplate: [templateMenu(/Export/)],
  saveSettings: [(page) => page.locator('.side-f .ib').first().click()],
  scan: [drop()],
  planSubmission: [drop()],
  forecastSubmission: [drop()],
  unlockScan: [
    then(
      drop('/home/mika/troubles'),
      (page) => page.getByTestId('unlock').locator('input').fill('sesame'),
      key('Enter'),
    ),
  ],
  submitScan: [then(drop(), (page) => page.getByTestId('sheet-start').click())],
  submitPrompt: [then(press('New prompt'), fill('textarea', 'Compare them.'), key('Control+Enter'))],
  prices: [settings('prices')],
  savePrice: [
    then(
      settings('prices'),
      (page) => page.locator('[data-model=claude-sonnet-4-6] .ib').click(),
      (page) => page.getByRole('menuitem', { name: 'Mark as free' }).click(),
    ),
  ],
  removePrice: [
    then(
      settings('prices'),
      (page) => page.locator('[data-model=claude-sonnet-4-6] .ib').click(),
      (page) => page.getByRole('menuitem', { name: 'Mark as free' }).click(),
      (page) => page.locator('.toast-undo').click(),
    ),
  ],
  webhookStatus: [settings('notify')],
  saveWebhookSecret: [
    then(settings('notify'), fill('input[type=password]', 'a long secret'), key('Enter')),
    'webhook=ok',
  ],
  bucketStatus: [settings('storage'), 'bucket=ok'],
  testBucket: [
    then(settings('storage'), (page) => page.locator('.bk-acts .btn').first().click()),
    'bucket=ok',
  ],
  saveBucketSecret: [
    then(
      settings('storage'),
      (page) => page.locator('.bk-kept .btn').last().click(),
      fill('input[type=password]', 'a secret'),
      press('Save'),
    ),
    'bucket=ok',
  ],
  retryCopies: [
    then(row('biochar'), (page) => page.getByTestId('copy-error').getByRole('button').first().click()),
    'bucket=failed',
  ],
  uploadMissing: [
    then(settings('storage'), (page) =>
      page.getByTestId('bucket-uploads').getByRole('button', { name: /^Copy/ }).click(),
    ),
    'bucket=failed',
  ],
  retryUploads: [
    then(settings('storage'), (page) =>
      page.getByTestId('bucket-uploads').getByRole('button', { name: /^Try/ }).click(),
    ),
    'bucket=failed',
  ],
  saveKey: [
    then(
      settings('models'),
      press('Replace'),
      fill('.set input[type=password]', 'sk-ant-example-1'),
      key('Enter'),
    ),
  ],
  removeKey: [then(settings('models'), press('Remove'), inDialog(/Remove/))],
  testKey: [then(settings('models'), press('Test'))],
  useEndpoint: [endpointOther],
  saveHeaders: [
    then(
      settings('models'),
      press('Key, headers and certificates'),
      press('Add…'),
      fill('.ep-headers input', 'x-team'),
      async (page) => page.locator('.ep-headers input').nth(1).fill('research'),
      (page) => page.locator('.ep-headers .btn-primary').click(),
    ),
    'baseUrl=https://gateway.example.com&endpoint=other',
  ],
  modelsTold: [settings('models')],
  modelProfiles: [settings('models'), 'model=claude-unpriced'],
  chooseFiles: [(page) => page.getByTestId('add-pdfs').click()],
  chooseFolder: [command('add folder')],
  chooseCertificates: [
    then(settings('models'), press('Key, headers and certificates'), press('Choose…')),
    'baseUrl=https://gateway.example.com&endpoint=other',
  ],
  openPath: [then(row('biochar'), key('o'))],
  revealPath: [then(row('biochar'), command('show in folder'))],
  openUrl: [
    then(dead, (page) => page.getByRole('button', { name: 'Open the Console' }).first().click()),
    'dead=credit-exhausted',
  ],
};

/** What a person is told of in another way, or has no need to be told of. */
const OTHERWISE = {
  settings: 'the window can’t start',
  overview: 'the window can’t start',
  endpoint: 'the window can’t start',
  templates: 'the window can’t start',
  countTokens: 'the figure says that it is estimated, and why',
  cancelCounting: 'nothing is lost if it goes on',
  cancelScan: 'nothing is lost if it goes on',
  forecastRetry: 'no screen asks for it',
  pagePicture: 'the page is drawn as a sheet of paper',
  readBucketAddress: 'what was pasted stays as it is',
  onEvent: 'no command',
  onDrag: 'no command',
  onHanded: 'no command',
  closeDocument: 'what was lent is removed with the program at the latest',
};

test('every command of the engine has been seen to fail', async () => {
  const text = await readFile(new URL('../../src/backend/backend.ts', import.meta.url), 'utf8');
  const [, door] = text.split('export interface Backend {');
  const methods = [...door.split('\n}')[0].matchAll(/^ {2}(\w+)\(/gm)].map((match) => match[1]);
  const known = new Set([...Object.keys(COMMANDS), ...Object.keys(OTHERWISE)]);
  assert.deepEqual(
    methods.filter((method) => !known.has(method)),
    [],
    'add how a person comes to ask for it, so that its failure is seen',
  );
});

for (const [method, [act, query = '']] of Object.entries(COMMANDS)) {
  test(`a failed ${method} is said`, async () => {
    const { page, close } = await openWindow(
      browser,
      pages.address,
      `freeze&lang=en&fail=${method}:storage&${query}`,
    );
    page.setDefaultTimeout(4000);
    await page.locator('[data-testid=job-row], .no-rows').first().waitFor();
    await act(page);
    const said = page.getByText(/The results folder can’t be written/).first();
    await said.waitFor({ timeout: 4000 }).catch(async () => {
      const text = await page.evaluate(() => document.body.innerText);
      assert.fail(`nobody is told that ${method} failed:\n${text.slice(0, 1500)}`);
    });
    assert.equal(await overlay(page).count(), 0, `${method} is no surprise: it is said where it was asked`);
    assert.match(
      await page.evaluate(() => document.body.innerText),
      /Free disk space, then try again/,
      'and what to do about it',
    );
    await close();
  });
}
