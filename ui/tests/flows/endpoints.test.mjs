/** Models and endpoints: what a test tells, choosing another place to ask, and the end of a model. */
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

const open = async (query) => {
  const opened = await openWindow(browser, pages.address, `freeze&${query}`);
  return { ...opened, endpoint: opened.page.getByTestId('endpoint') };
};
const openModels = async (page) => {
  await page.getByTestId('settings-open').click();
  await page.locator('[data-pane=models]').click();
  await page.getByTestId('models').locator('tr[data-model]').first().waitFor();
};
const outcome = (page) => page.getByTestId('key-outcome');

test('a test of the key tells the models, the limits and the price, and the table follows', async () => {
  const { page, complaints, close } = await open('');
  await openModels(page);
  const used = page.locator('tr[data-model=claude-sonnet-4-6]');
  assert.match(await used.innerText(), /\$3\.00\s+\$15\.00\s+\$1\.50, \$7\.50\s+600\s+New jobs/);
  await page.getByRole('button', { name: 'Test', exact: true }).click();
  await outcome(page).getByText('The key works.').waitFor();
  const said = await outcome(page).innerText();
  assert.match(said, /claude-sonnet-4-6 is available\. 4 models may be used\. The price is known\./);
  assert.match(said, /1,000 requests, 450,000 input and 90,000 output tokens a minute/);
  assert.match(
    await page.locator('tr[data-model=claude-opus-4-5]').innerText(),
    /retires Apr 22, 2026, use claude-opus-4-6/,
  );
  await page.getByRole('button', { name: 'Use claude-haiku-4-5' }).click();
  await page.locator('tr[data-model=claude-haiku-4-5]').getByText('New jobs').waitFor();
  await page.getByTestId('toast').getByRole('button', { name: 'Undo' }).click();
  await used.getByText('New jobs').waitFor();
  assert.deepEqual(complaints, []);
  await close();
});

test('a refused key says so, and the button beside it asks for another', async () => {
  const { page, complaints, close } = await open('key=none');
  await openModels(page);
  await page.getByLabel('Anthropic API key').fill('sk-ant-nope');
  await page.getByRole('button', { name: 'Save and test' }).click();
  await outcome(page).getByText('The provider refused the key (401).').waitFor();
  await page.getByRole('button', { name: 'Paste another key' }).click();
  await page.getByLabel('Anthropic API key').fill('sk-ant-example-7Q2f');
  await page.getByRole('button', { name: 'Save and test' }).click();
  await outcome(page).getByText('The key works.').waitFor();
  assert.deepEqual(complaints, []);
  await close();
});

test('Ollama is chosen, tested without a key, given a model it has, and costs nothing', async () => {
  const { page, endpoint, complaints, close } = await open('key=none');
  await openModels(page);
  await endpoint.getByLabel('Endpoint', { exact: true }).selectOption('ollama');
  assert.equal(await endpoint.getByLabel('Address', { exact: true }).inputValue(), 'http://localhost:11434');
  assert.equal(await page.getByTestId('abilities').count(), 0, 'nothing is said of what is not in force');
  await endpoint.getByRole('button', { name: 'Use Ollama' }).click();
  // What changed is tested at once: nothing is known of the place before.
  await outcome(page).getByText('But claude-sonnet-4-6 is not among its models.').waitFor();
  await outcome(page).getByRole('button', { name: 'Use llama3.3' }).click();
  await outcome(page).getByText('No price is known for llama3.3').waitFor();
  await outcome(page).getByRole('button', { name: 'Mark as free' }).click();
  await outcome(page).getByText('It is marked as free').waitFor();
  assert.match(await page.locator('tr[data-model="llama3.3"]').innerText(), /Free/);
  assert.match(await page.getByTestId('abilities').innerText(), /Reads no PDFs: their text is sent/);
  assert.equal(await endpoint.getByRole('switch', { name: /can’t read PDFs/ }).count(), 0);
  assert.equal(
    await endpoint.getByRole('switch', { name: 'llama3.3 costs nothing' }).getAttribute('aria-checked'),
    'true',
  );
  // Nothing waits for a key any more.
  await page.keyboard.press('Escape');
  await page.getByTestId('add-pdfs').click();
  assert.equal(await page.getByTestId('sheet-start').innerText(), 'Start 2 jobs');
  assert.match(await page.locator('dialog').innerText(), /Only the text is sent/);
  assert.deepEqual(complaints, []);
  await close();
});

test('an address that can’t be used is refused beside its field, and nothing changes', async () => {
  const { page, endpoint, complaints, close } = await open('');
  await openModels(page);
  await endpoint.getByLabel('Endpoint', { exact: true }).selectOption('other');
  const use = endpoint.getByRole('button', { name: 'Use this endpoint' });
  await use.click();
  await endpoint.getByText('An address is needed').waitFor();
  await endpoint.getByLabel('Address', { exact: true }).fill('gateway.example.com');
  await use.click();
  await endpoint.getByText('An address begins with https:// or http://.').waitFor();
  await endpoint.getByLabel('Address', { exact: true }).fill('https://me:secret@gateway.example.com');
  await use.click();
  await endpoint.getByText('Leave out name and password').waitFor();
  assert.equal(await endpoint.getByLabel('Address', { exact: true }).getAttribute('aria-invalid'), 'true');
  await endpoint.getByRole('button', { name: 'Cancel' }).click();
  assert.equal(
    await endpoint.getByLabel('Address', { exact: true }).inputValue(),
    'https://api.anthropic.com',
  );
  assert.equal(await endpoint.getByLabel('Endpoint', { exact: true }).inputValue(), 'anthropic');
  assert.deepEqual(complaints, []);
  await close();
});

test('where nobody answers, the way leads to the address', async () => {
  const { page, endpoint, close } = await open('baseUrl=https://unreachable.example.com');
  await openModels(page);
  await page.getByRole('button', { name: 'Test', exact: true }).click();
  await outcome(page).getByText('could not be reached').waitFor();
  await outcome(page).getByRole('button', { name: 'Check the address' }).click();
  assert.ok(
    await endpoint
      .getByLabel('Address', { exact: true })
      .evaluate((field) => field === document.activeElement),
  );
  await close();
});

test('extra headers are checked, kept by name, replaced and removed; a value is never shown', async () => {
  const { page, endpoint, complaints, close } = await open('baseUrl=https://gateway.example.com');
  await openModels(page);
  await endpoint.getByRole('button', { name: 'Key, headers and certificates' }).click();
  await endpoint.getByRole('button', { name: 'Add…' }).click();
  await endpoint.getByLabel('Header', { exact: true }).fill('Host');
  await endpoint.getByLabel('Value').fill('top secret');
  assert.equal(await endpoint.getByLabel('Value').getAttribute('type'), 'password');
  const save = endpoint.getByRole('button', { name: 'Save' });
  await save.click();
  await endpoint.getByText('Gistmill sets this one itself.').waitFor();
  await endpoint.getByLabel('Header', { exact: true }).fill('X-Team');
  await endpoint.getByRole('button', { name: 'Another header' }).click();
  await save.click();
  await endpoint.getByText('A value in plain letters.').waitFor();
  await endpoint.getByRole('button', { name: 'Leave out header 2' }).click();
  await save.click();
  const kept = page.getByTestId('headers');
  await kept.getByText('x-team').waitFor();
  assert.match(await kept.innerText(), /in the system keychain and are not shown again/);
  await kept.getByRole('button', { name: 'Replace…' }).click();
  assert.equal(await endpoint.getByLabel('Value').inputValue(), '', 'a value never comes back');
  await endpoint.getByRole('button', { name: 'Cancel' }).click();
  assert.equal(await page.getByText('top secret').count(), 0);
  await kept.getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await kept.getByText('None. Some gateways want one besides the key.').waitFor();
  assert.deepEqual(complaints, []);
  await close();
});

test('certificates and the way the key is sent are set, and last', async () => {
  const { page, endpoint, complaints, close } = await open('baseUrl=https://gateway.example.com');
  await openModels(page);
  await endpoint.getByRole('button', { name: 'Key, headers and certificates' }).click();
  await endpoint.getByRole('radio', { name: 'Bearer' }).click();
  await endpoint.getByRole('button', { name: 'Choose…' }).click();
  await endpoint.getByText('/home/mika/certificates/office-gateway.pem').waitFor();
  await endpoint.getByRole('switch', { name: /can’t read PDFs/ }).click();
  // Away and back: what is shown is what is stored, and what is set is not folded away.
  await page.locator('[data-pane=general]').click();
  await page.locator('[data-pane=models]').click();
  await endpoint.getByText('/home/mika/certificates/office-gateway.pem').waitFor();
  assert.equal(await endpoint.getByRole('radio', { name: 'Bearer' }).getAttribute('aria-checked'), 'true');
  assert.equal(
    await endpoint.getByRole('switch', { name: /can’t read PDFs/ }).getAttribute('aria-checked'),
    'true',
  );
  await page.getByTestId('certificates').getByRole('button', { name: 'Remove' }).click();
  await endpoint.getByText('Those of the system are trusted.').waitFor();
  assert.deepEqual(complaints, []);
  await close();
});

test('a certificate file that can’t be read is refused beside its row', async () => {
  const { page, endpoint, close } = await open(
    'baseUrl=https://gateway.example.com&fail=saveSettings:bad-input',
  );
  await openModels(page);
  await endpoint.getByRole('button', { name: 'Key, headers and certificates' }).click();
  await endpoint.getByRole('button', { name: 'Choose…' }).click();
  await page.getByTestId('certificates').getByRole('alert').waitFor();
  await close();
});

test('the end of the model is told in the queue, before adding and in the settings, with the way out', async () => {
  const { page, complaints, close } = await open('model=claude-opus-4-5');
  const line = page.getByTestId('answer').filter({ hasText: 'The model ends.' });
  assert.match(
    await line.innerText(),
    /claude-opus-4-5 is retired on Apr 22, 2026, in 69 days\.[\s\S]*Use claude-opus-4-6/,
  );
  await page.getByTestId('add-pdfs').click();
  const notice = page.locator('dialog').getByTestId('model-notice');
  await notice.getByRole('button', { name: 'Use claude-opus-4-6' }).click();
  await notice.waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');
  assert.equal(await line.count(), 0);
  assert.deepEqual(complaints, []);
  await close();
});

test('a retired model stops nobody: one press and new jobs ask for another', async () => {
  const { page, complaints, close } = await open('model=claude-sonnet-4-5');
  const line = page.getByTestId('answer').filter({ hasText: 'The model has ended.' });
  await line.getByRole('button', { name: /Use claude-sonnet-4-6/ }).click();
  await line.waitFor({ state: 'detached' });
  assert.deepEqual(complaints, []);
  await close();
});

test('dead letters of an endpoint without PDFs: the button has text sent and shows the price first', async () => {
  const { page, complaints, close } = await open(
    'dead=pdf-not-taken,files-not-taken&baseUrl=https://gateway.example.com',
  );
  await page.getByTestId('view-dead-letters').click();
  const group = (cause) => page.locator(`[data-cause=${cause}]`);
  assert.equal(
    await group('files-not-taken').locator('.fix').innerText(),
    'Send text, run 2…',
    'running it again as it is is no way out',
  );
  await group('pdf-not-taken').getByRole('button', { name: 'Send text, run 2…' }).click();
  const sheet = page.getByRole('dialog', { name: 'Run again with changes' });
  await sheet.getByText('The text of PDFs is sent from now on').waitFor();
  await page.getByTestId('retry-start').click();
  await group('pdf-not-taken').waitFor({ state: 'detached' });
  await group('files-not-taken').getByRole('button', { name: 'Run 2 again as text…' }).waitFor();
  assert.deepEqual(complaints, []);
  await close();
});

test('dead letters of a retired model run again with the one that takes its place', async () => {
  const { page, complaints, close } = await open('dead=model-retired');
  await page.getByTestId('view-dead-letters').click();
  const group = page.locator('[data-cause=model-retired]');
  await group.getByRole('button', { name: 'Run 2 with another model…' }).click();
  const sheet = page.getByRole('dialog', { name: 'Run again with changes' });
  assert.equal(await sheet.getByLabel('Model').inputValue(), 'claude-sonnet-4-6');
  // Going back to the old one says what comes of it.
  await sheet.getByLabel('Model').fill('');
  await sheet.getByTestId('model-notice').getByText('answers no more').waitFor();
  await sheet.getByRole('button', { name: 'Use claude-sonnet-4-6' }).click();
  assert.equal(await sheet.getByLabel('Model').inputValue(), 'claude-sonnet-4-6');
  await page.getByTestId('retry-start').click();
  await group.waitFor({ state: 'detached' });
  assert.deepEqual(complaints, []);
  await close();
});

test('the first run leads to another endpoint and comes back with it', async () => {
  const { page, endpoint, complaints, close } = await openWindow(
    browser,
    pages.address,
    'freeze&welcome',
  ).then((opened) => ({ ...opened, endpoint: opened.page.getByTestId('endpoint') }));
  await page.getByTestId('welcome-endpoint').click();
  await endpoint.getByLabel('Endpoint', { exact: true }).selectOption('lm-studio');
  await endpoint.getByLabel('Model there').fill('qwen3-8b');
  await endpoint.getByRole('button', { name: 'Use LM Studio' }).click();
  await outcome(page).getByText('qwen3-8b is available.').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('heading', { name: 'Claude jobs are asked at LM Studio' }).waitFor();
  await page.getByRole('button', { name: 'Test it' }).click();
  await page.getByText('or choose files').click();
  assert.equal(await page.getByTestId('sheet-start').innerText(), 'Start 2 jobs');
  assert.deepEqual(complaints, []);
  await close();
});
