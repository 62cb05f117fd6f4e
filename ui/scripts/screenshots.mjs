/**
 * Every screen, and pictures of them in both themes, both languages and three window sizes, from the scripted engine.
 *
 * Usage: npm run screenshots -- FOLDER [NAME-FILTER]
 */
import { pathToFileURL } from 'node:url';
import { takePictures } from './gallery.mjs';

const DRAGGED = { type: 'enter', paths: ['/papers/a', '/papers/b', '/papers/c'] };

const choose = async (page) => {
  await page.locator('[data-testid=job-row]', { hasText: 'biochar_field' }).click();
  await page.locator('[data-testid=detail-summary]').waitFor();
};

const dropTroubles = async (page) => {
  await page.evaluate(() =>
    window.gistmillMock.drag({
      type: 'drop',
      paths: ['/home/mika/Documents/Grid troubles'],
      x: innerWidth * 0.8,
      y: 380,
    }),
  );
  await page.getByTestId('sheet-start').waitFor();
  await page.waitForTimeout(250);
};

/** Every screen: how to get there from the address. */
export const SCREENS = [
  { name: 'welcome', query: 'welcome' },
  { name: 'welcome-no-keychain', query: 'welcome&key=no-keychain' },
  {
    name: 'welcome-drop',
    query: 'welcome',
    act: async (page) => {
      await page.getByTestId('welcome-key-input').fill('sk-ant-example-7Q2f');
      await page.getByTestId('welcome-save').click();
      await page.locator('.mini-drop').waitFor();
    },
  },
  { name: 'empty', query: 'empty' },
  { name: 'queue', query: '', act: choose, leaveDrawer: false },
  { name: 'queue-drawer', query: '', act: choose, narrowOnly: true, leaveDrawer: true },
  { name: 'queue-key-refused', query: 'circuit=key-refused' },
  { name: 'queue-paused', query: 'paused=high,bulk' },
  {
    name: 'queue-running',
    query: '',
    act: async (page) => {
      await page.getByTestId('view-running').click();
    },
  },
  {
    name: 'queue-review',
    query: '',
    act: async (page) => {
      await page.getByTestId('view-needs-review').click();
      await page.waitForTimeout(150);
    },
  },
  { name: 'queue-cap', query: 'dayCap=14' },
  { name: 'queue-hours', query: 'hours=22-7' },
  { name: 'queue-offline', query: 'circuit=offline' },
  { name: 'queue-storage', query: 'storage' },
  {
    name: 'queue-selection',
    query: '',
    act: async (page) => {
      await page.locator('[data-testid=job-row]').nth(5).click();
      if (page.viewportSize().width <= 1100) await page.keyboard.press('Escape');
      await page.keyboard.press('Shift+ArrowDown');
      await page.keyboard.press('Shift+ArrowDown');
    },
  },
  {
    name: 'queue-everything',
    query: '',
    act: async (page) => {
      await page.getByTestId('view-waiting').click();
      await page.locator('[data-status=pending]').nth(3).click();
      if (page.viewportSize().width <= 1100) await page.keyboard.press('Escape');
      await page.keyboard.press('Control+a');
      await page.keyboard.press('Space');
      await page.locator('dialog').waitFor();
    },
  },
  {
    name: 'queue-row-menu',
    query: '',
    act: (page) => page.locator('[data-testid=job-row]', { hasText: 'hedgerow' }).click({ button: 'right' }),
  },
  {
    name: 'queue-waiting',
    query: '',
    act: async (page) => {
      await page.getByTestId('view-waiting').click();
      await page.locator('[data-status=pending]').nth(2).click();
      await page.waitForTimeout(200);
    },
  },
  {
    name: 'batch',
    query: '',
    act: async (page) => {
      await page.locator('.chip:visible').first().click();
      await page.getByRole('menuitemradio', { name: 'Soil carbon review' }).click();
      await page.getByTestId('batch-bar').waitFor();
    },
  },
  {
    name: 'batch-cap',
    query: '',
    act: async (page) => {
      await page.locator('.chip:visible').first().click();
      await page.getByRole('menuitemradio', { name: 'Soil carbon review' }).click();
      await page.getByTestId('batch-bar').locator('.btn').nth(2).click();
      await page.locator('dialog input').fill('30');
    },
  },
  {
    name: 'retry',
    query: '',
    act: async (page) => {
      await page.getByTestId('view-dead-letters').click();
      await page.locator('.tool .btn').click();
      await page.getByTestId('dry-run').locator('hr').nth(1).waitFor();
    },
  },
  {
    name: 'undo',
    query: '',
    act: async (page) => {
      await page.locator('[data-testid=job-row]', { hasText: 'hedgerow' }).click();
      await page.keyboard.press('h');
      await page.getByTestId('toast').waitFor();
    },
  },
  { name: 'queue-menu', query: '', act: (page) => page.locator('.tool .chip:visible').first().click() },
  {
    name: 'toast',
    query: 'fail=retry:storage',
    act: async (page) => {
      await page.locator('[data-testid=job-row]', { hasText: 'grazing' }).click();
      await page.keyboard.press('r');
      await page.getByTestId('toast').waitFor();
    },
  },
  {
    name: 'reader',
    query: '',
    act: async (page) => {
      await page.locator('[data-testid=job-row]', { hasText: 'biochar_field' }).dblclick();
      await page.getByTestId('reader').waitFor();
      await page.locator('.sum h2').waitFor();
      // The page is drawn a moment after the summary; in a small window it is behind a switch.
      if (page.viewportSize().width > 860) await page.locator('[data-page]').waitFor();
    },
  },
  {
    name: 'dead-letters',
    query: '',
    act: async (page) => {
      await page.getByTestId('view-dead-letters').click();
      await page.locator('[data-cause=overloaded] [role=checkbox]').first().click();
      await page.locator('[data-cause=overloaded] .ib').click();
    },
  },
  {
    name: 'dead-letters-unlock',
    query: '',
    act: async (page) => {
      await page.getByTestId('view-dead-letters').click();
      await page.locator('[data-cause=pdf-encrypted] .fix .btn').click();
      await page.locator('dialog input').fill('wrong');
      await page.keyboard.press('Enter');
      await page.locator('[role=alert]').waitFor();
    },
  },
  ...[
    ['parts', 'no-till'],
    ['parts-done', 'biochar'],
  ].map(([name, title]) => ({
    name,
    query: 'parts',
    act: async (page) => {
      await page.locator('[data-testid=job-row]', { hasText: title }).click();
      await page.getByTestId('page-picture').locator('img').waitFor();
      await page.getByTestId('parts').scrollIntoViewIfNeeded();
    },
  })),
  {
    name: 'document',
    query: 'parts&textOnly&baseUrl=http://localhost:11434',
    act: async (page) => {
      await page.locator('[data-testid=job-row]', { hasText: 'no-till' }).click();
      await page.getByTestId('page-picture').locator('img').waitFor();
      await page.getByTestId('document-facts').locator('dd').last().scrollIntoViewIfNeeded();
    },
  },
  {
    name: 'detail-locked',
    query: '',
    act: async (page) => {
      await page.getByTestId('view-dead-letters').click();
      await page.locator('[data-cause=pdf-encrypted] .ib').click();
      await page.locator('.fr-name').first().click();
      await page.getByTestId('reader').waitFor();
      await page.getByTestId('pdf-trouble').waitFor({ state: 'attached' });
    },
  },
  ...[
    ['settings-models-ollama', 'key=none&model=llama3.3&baseUrl=http://localhost:11434'],
    ['settings-models-ends', 'model=claude-opus-4-5'],
    [
      'settings-models-gateway',
      'baseUrl=https://gateway.example.com&endpoint=litellm&headers=x-team,cf-access-token&ca',
    ],
  ].flatMap(([name, query]) => [
    {
      name,
      query,
      act: async (page) => {
        await page.getByTestId('settings-open').click();
        await page.locator('[data-pane=models]').click();
        await page.locator('.fs .btn:visible').last().waitFor();
        const test = page.locator('.fs form').first().locator('.btn:not([disabled])').last();
        await test.click();
        await page.getByTestId('key-outcome').locator('.result').waitFor();
      },
    },
    {
      name: `${name}-endpoint`,
      query,
      act: async (page) => {
        await page.getByTestId('settings-open').click();
        await page.locator('[data-pane=models]').click();
        await page.getByTestId('abilities').waitFor();
        await page.locator('.set').evaluate((pane) => (pane.scrollTop = pane.scrollHeight));
      },
    },
  ]),
  {
    name: 'settings-endpoint-draft',
    query: '',
    act: async (page) => {
      await page.getByTestId('settings-open').click();
      await page.locator('[data-pane=models]').click();
      await page.getByTestId('endpoint').locator('select').selectOption('other');
      await page.locator('.ep-draft input').first().fill('https://me:secret@gateway.example.com');
      await page.locator('.ep-draft .btn-primary').click();
      await page.locator('.set').evaluate((pane) => (pane.scrollTop = pane.scrollHeight));
    },
  },
  {
    name: 'settings-headers',
    query: 'baseUrl=https://gateway.example.com&headers=x-team',
    act: async (page) => {
      await page.getByTestId('settings-open').click();
      await page.locator('[data-pane=models]').click();
      await page.getByTestId('headers').getByRole('button').last().click();
      await page.locator('.ep-headers input').first().fill('host');
      await page.locator('.ep-headers .btn-link').click();
      await page.locator('.ep-headers .btn-primary').click();
      await page.locator('.set').evaluate((pane) => (pane.scrollTop = pane.scrollHeight));
    },
  },
  { name: 'queue-model-ends', query: 'model=claude-opus-4-5' },
  { name: 'queue-model-retired', query: 'model=claude-sonnet-4-5' },
  {
    name: 'add-model-ends',
    query: 'model=claude-opus-4-5',
    act: async (page) => {
      await page.getByTestId('add-pdfs').click();
      await page.getByTestId('model-notice').waitFor();
    },
  },
  {
    name: 'dead-letters-endpoint',
    query: 'dead=pdf-not-taken,files-not-taken,model-retired&baseUrl=https://gateway.example.com',
    act: async (page) => {
      await page.getByTestId('view-dead-letters').click();
      await page.locator('[data-cause=model-retired]').scrollIntoViewIfNeeded();
    },
  },
  { name: 'welcome-endpoint', query: 'welcome&baseUrl=http://localhost:11434&model=llama3.3' },
  {
    name: 'drop',
    query: '',
    act: (page) =>
      page.evaluate((event) => window.gistmillMock.drag({ ...event, x: innerWidth * 0.8, y: 380 }), DRAGGED),
  },
  {
    name: 'scanning',
    query: 'hold=scan',
    act: async (page) => {
      await page.evaluate(
        (event) => window.gistmillMock.drag({ ...event, type: 'drop', x: innerWidth * 0.8, y: 380 }),
        DRAGGED,
      );
      await page.waitForTimeout(500);
    },
  },
  {
    name: 'add',
    query: '',
    act: async (page) => {
      await page.evaluate(() =>
        window.gistmillMock.drag({
          type: 'drop',
          paths: ['/home/mika/Documents/Grid reliability reports'],
          x: innerWidth * 0.8,
          y: 380,
        }),
      );
      await page.getByTestId('sheet-start').waitFor();
    },
  },
  ...[
    ['add-counting', 'hold=count'],
    ['add-half-price', 'batchLane&batchCap=15&hold=count'],
    ['add-no-batches', 'endpoint=litellm&baseUrl=http://localhost:4000'],
    ['add-unpriced', 'model=claude-unpriced'],
    ['add-offline', 'circuit=offline&fail=countTokens:provider-unavailable'],
    ['add-over-cap', 'batchCap=3'],
  ].map(([name, query]) => ({
    name,
    query,
    act: async (page) => {
      await page.evaluate(() =>
        window.gistmillMock.drag({
          type: 'drop',
          paths: ['/home/mika/Documents/Grid reliability reports'],
          x: innerWidth * 0.8,
          y: 380,
        }),
      );
      await page.getByTestId('sheet-start').waitFor();
      await page.waitForTimeout(700);
      if (name === 'add-half-price') await page.getByTestId('pilot-choice').getByRole('switch').click();
    },
  })),
  ...['running', 'ended', 'failed'].map((how) => ({
    name: `pilot-${how}`,
    query: `pilot=${how}`,
    act: async (page) => {
      await page.evaluate(() => document.querySelector('.bt-report').click());
      await page.getByTestId('pilot-rest').locator('.w').waitFor();
    },
  })),
  {
    name: 'pilot-change',
    query: 'pilot=ended',
    act: async (page) => {
      await page.evaluate(() => document.querySelector('.bt-report').click());
      await page.getByTestId('pilot-change').click();
      await page.locator('dialog').getByTestId('pilot-rest').locator('.w').waitFor();
    },
  },
  { name: 'queue-pilot', query: 'pilot=ended' },
  ...['halfPrice', 'batchLane', 'halfPrice&paused=high,bulk'].map((query, at) => ({
    name: ['half-queue', 'half-lane', 'half-paused'][at],
    query,
    act: async (page) => {
      await page.getByTestId(at === 0 ? 'view-running' : 'view-all').click();
      await page.locator('[data-testid=job-row]').nth(7).click();
      await page.waitForTimeout(200);
      if (at > 0 && page.viewportSize().width <= 1100) await page.keyboard.press('Escape');
    },
  })),
  {
    name: 'half-cancel',
    query: 'halfPrice',
    act: async (page) => {
      await page.getByTestId('view-running').click();
      await page.locator('[data-status=submitted]').nth(1).click();
      if (page.viewportSize().width <= 1100) await page.keyboard.press('Escape');
      await page.keyboard.press('Delete');
      await page.locator('dialog').waitFor();
    },
  },
  {
    name: 'half-filling',
    query: 'halfPrice',
    act: async (page) => {
      await page.getByTestId('view-waiting').click();
      await page.locator('.search input').fill('sustainability');
      await page.waitForTimeout(400);
    },
  },
  {
    name: 'half-retry',
    query: 'dead=batches-not-offered',
    act: async (page) => {
      await page.getByTestId('view-dead-letters').click();
      await page.locator('.tool .btn').click();
      await page.getByRole('dialog').getByRole('radio').nth(6).click();
      await page.getByTestId('dry-run').locator('hr').nth(1).waitFor();
    },
  },
  {
    name: 'half-refused',
    query: 'dead=batches-not-offered',
    act: async (page) => {
      await page.getByTestId('view-dead-letters').click();
      await page.locator('[data-cause=batches-not-offered]').scrollIntoViewIfNeeded();
    },
  },
  {
    name: 'half-lanes',
    query: 'batchLane',
    act: async (page) => {
      await page.getByTestId('settings-open').click();
      await page.locator('[data-pane=lanes]').click();
      await page.locator('.set-h2').nth(1).scrollIntoViewIfNeeded();
      await page.locator('.set').evaluate((pane) => (pane.scrollTop = pane.scrollHeight));
    },
  },
  {
    name: 'scanning-folders',
    query: 'hold=walk',
    act: async (page) => {
      await page.evaluate(
        (event) => window.gistmillMock.drag({ ...event, type: 'drop', x: innerWidth * 0.8, y: 380 }),
        DRAGGED,
      );
      await page.waitForTimeout(500);
    },
  },
  { name: 'add-troubles', query: '', act: dropTroubles },
  {
    name: 'add-password-wrong',
    query: '',
    act: async (page) => {
      await dropTroubles(page);
      await page.getByTestId('unlock').locator('input').fill('Sesame');
      await page.keyboard.press('Enter');
      await page.getByTestId('unlock').locator('[role=alert]').waitFor();
      await page.locator('[data-group=not-a-pdf] .btn').click();
    },
  },
  {
    name: 'add-unlocked',
    query: '',
    act: async (page) => {
      await dropTroubles(page);
      await page.getByTestId('unlock').locator('input').fill('sesame');
      await page.keyboard.press('Enter');
      await page.locator('.unlocked').waitFor();
      await page.locator('[data-group=duplicate]').scrollIntoViewIfNeeded();
      await page.locator('[data-group=duplicate] .btn').click();
      await page.locator('.pb-files').scrollIntoViewIfNeeded();
    },
  },
  {
    name: 'add-cap',
    query: '',
    act: async (page) => {
      await page.getByTestId('add-pdfs').click();
      await page.getByTestId('sheet-start').waitFor();
      await page.locator('.pf-r input[inputmode=decimal]').fill('0.30');
    },
  },
  {
    name: 'add-no-key',
    query: 'key=none',
    act: async (page) => {
      await page.getByTestId('add-pdfs').click();
      await page.getByTestId('sheet-start').waitFor();
    },
  },
  { name: 'prompt', query: '', act: (page) => page.locator('.tool .btn').first().click() },
  {
    name: 'keys',
    query: '',
    act: async (page) => {
      await page.locator('.foot-keys').click();
      await page.locator('dialog').waitFor();
    },
  },
  { name: 'settings-general', query: '', act: (page) => page.getByTestId('settings-open').click() },
  {
    name: 'settings-models',
    query: '',
    act: async (page) => {
      await page.getByTestId('settings-open').click();
      await page.locator('.set-nav button').nth(1).click();
      await page.locator('.fs .btn-primary').click();
      await page.locator('.result').waitFor();
    },
  },
  ...['limits', 'lanes', 'prices', 'templates', 'storage', 'notify'].map((pane) => ({
    name: `settings-${pane}`,
    query: 'hours=22-7&webhook=failing',
    act: async (page) => {
      await page.getByTestId('settings-open').click();
      await page.locator(`[data-pane=${pane}]`).click();
      await page.waitForTimeout(100);
    },
  })),
  {
    name: 'settings-price',
    query: '',
    act: async (page) => {
      await page.getByTestId('settings-open').click();
      await page.locator('.set-nav button').nth(4).click();
      await page.locator('[data-model=claude-sonnet-4-6] .ib').click();
      await page.locator('[role=menuitem]').first().click();
    },
  },
  {
    name: 'settings-storage-filled',
    query: 'bucket=waiting',
    act: async (page) => {
      await page.getByTestId('settings-open').click();
      await page.locator('[data-pane=storage]').click();
      await page.locator('.bk-acts .btn').first().click();
      await page.locator('.bk-foot .result').waitFor();
    },
  },
  {
    name: 'settings-storage-refused',
    query: 'bucket=failed',
    act: async (page) => {
      await page.getByTestId('settings-open').click();
      await page.locator('[data-pane=storage]').click();
      await page.locator('.bk-kept .btn').last().click();
      await page.locator('input[type=password]').fill('wrong');
      await page.locator('.bk-acts .btn').first().click();
      await page.locator('.result.bad').waitFor();
      await page.getByTestId('bucket-uploads').locator('.bk-more').click();
      await page.getByTestId('bucket-uploads').scrollIntoViewIfNeeded();
    },
  },
  {
    name: 'settings-template',
    query: '',
    act: async (page) => {
      await page.getByTestId('settings-open').click();
      await page.locator('[data-pane=templates]').click();
      await page.locator('[data-template=lease-abstract] .tpl-open').click();
      await page.locator('.tpl-fields').waitFor();
    },
  },
  {
    name: 'settings-template-new',
    query: '',
    act: async (page) => {
      await page.getByTestId('settings-open').click();
      await page.locator('[data-pane=templates]').click();
      await page.locator('.set-add .btn').first().click();
      await page.locator('.tpl-prompt').fill('List the risks for {audience}.');
      await page.waitForTimeout(400);
      await page.locator('.result').waitFor();
    },
  },
  {
    name: 'export',
    query: '',
    act: async (page) => {
      await page.getByTestId('export-all').click();
      await page.getByTestId('export-start').waitFor();
    },
  },
  ...[
    ['report', -1],
    ['report-running', 0],
  ].map(([name, at]) => ({
    name,
    query: '',
    act: async (page) => {
      await page.evaluate((n) => [...document.querySelectorAll('.bt-report')].at(n).click(), at);
      await page.locator('.step').first().waitFor();
    },
  })),
  {
    name: 'report-one',
    query: 'empty',
    act: async (page) => {
      await page.locator('.tool .btn').first().click();
      await page.locator('textarea').fill('Compare the three leases.');
      await page.keyboard.press('Control+Enter');
      await page.getByTestId('job-row').waitFor();
      await page.evaluate(() => document.querySelector('.bt-report').click());
      await page.getByTestId('report').locator('.panel').first().waitFor();
    },
  },
  {
    name: 'queue-uploads',
    query: 'bucket=failed',
    act: async (page) => {
      await page.locator('[data-testid=job-row]', { hasText: 'peatland' }).click();
      await page.getByTestId('reused-from').waitFor();
    },
  },
  {
    name: 'queue-fields',
    query: 'bucket=waiting',
    act: async (page) => {
      await page.locator('[data-search]').fill('tenant');
      await page.waitForTimeout(400);
      await page.locator('[data-testid=job-row]').first().click();
      await page.getByTestId('detail-summary').waitFor();
    },
  },
  {
    name: 'run-done-again',
    query: '',
    act: async (page) => {
      await choose(page);
      await page.keyboard.press('r');
      await page.getByTestId('dry-run').locator('hr').nth(1).waitFor();
    },
  },
  {
    name: 'settings-no-keychain',
    query: 'key=no-keychain',
    act: async (page) => {
      await page.getByTestId('settings-open').click();
      await page.locator('.set-nav button').nth(1).click();
    },
  },
  {
    name: 'settings-advanced',
    query: '',
    act: async (page) => {
      await page.getByTestId('settings-open').click();
      await page.locator('[data-pane=advanced]').click();
      await page.getByTestId('data-folder').locator('.btn').waitFor();
    },
  },
  {
    name: 'palette',
    query: '',
    act: async (page) => {
      await page.keyboard.press('Control+k');
      await page.locator('.palette-entry').first().waitFor();
    },
  },
  {
    name: 'palette-found',
    query: '',
    act: async (page) => {
      await page.keyboard.press('Control+k');
      await page.locator('.palette input').fill('lease');
    },
  },
  {
    name: 'palette-none',
    query: '',
    act: async (page) => {
      await page.keyboard.press('Control+k');
      await page.locator('.palette input').fill('xyzzy');
      await page.locator('.palette-none').waitFor();
    },
  },
  {
    name: 'cap-dialog',
    query: '',
    act: async (page) => {
      await page.evaluate(() => document.querySelector('.bt').click());
      await page.keyboard.press('Control+k');
      await page.locator('.palette input').fill('Soil cap');
      await page.keyboard.press('Enter');
      await page.locator('dialog.dialog:not(.palette)').waitFor();
    },
  },
  {
    name: 'discard-question',
    query: '',
    act: async (page) => {
      await page.getByTestId('settings-open').click();
      await page.locator('[data-pane=advanced]').click();
      await page.locator('[data-discard=done]').click();
      await page.locator('dialog').waitFor();
    },
  },
  {
    name: 'toast-undo',
    query: '',
    act: async (page) => {
      await page.getByTestId('view-waiting').click();
      await page.locator('[data-status=pending]').nth(3).click();
      if (page.viewportSize().width <= 1100) await page.keyboard.press('Escape');
      await page.keyboard.press('Space');
      await page.locator('.toast').waitFor();
    },
  },
  {
    name: 'toast-problem',
    query: 'fail=saveSettings:storage',
    act: async (page) => {
      await page.locator('.side-f .ib').first().click();
      await page.locator('.toast').waitFor();
    },
  },
  { name: 'nothing-matches', query: '', act: (page) => page.locator('[data-search]').fill('xyzzy') },
  { name: 'list-failed', query: 'fail=jobRows:storage', act: (page) => page.locator('.no-rows').waitFor() },
  {
    name: 'dead-letters-none',
    query: 'empty',
    act: (page) => page.getByTestId('view-dead-letters').click(),
  },
  {
    name: 'error-overlay',
    query: '',
    act: async (page) => {
      await page.evaluate(() => void Promise.reject(new Error('a row has no job')));
      await page.getByRole('alertdialog').waitFor();
    },
  },
  ...[
    ['reader-passage', '', '.qt:has(.done) .cite'],
    ['reader-differs', '', '.qt:has(.retry) .cite'],
    ['reader-missing', 'pdf=file-missing', null],
    ['reader-broken', 'pdf=broken', null],
  ].map(([name, query, chip]) => ({
    name,
    query,
    act: async (page) => {
      await page
        .locator('[data-testid=job-row]', { hasText: 'grazing' })
        .click({ position: { x: 140, y: 12 } });
      await page.getByTestId('detail-summary').waitFor();
      await page.keyboard.press('Enter');
      await page.getByTestId('reader').waitFor();
      const shown = page.locator('[data-page]');
      if (chip === null) return page.locator('[data-testid=pdf-trouble]').waitFor({ state: 'attached' });
      await page.locator('.qt').first().waitFor();
      if (page.viewportSize().width > 860) await shown.waitFor();
      await page.locator(chip).first().click();
      await page.getByTestId('passage').first().waitFor();
    },
  })),
];

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [folder = 'test-results/screenshots', only = ''] = process.argv.slice(2);
  const taken = await takePictures(
    SCREENS.filter((each) => each.name.includes(only)),
    folder,
  );
  console.log(`${taken} pictures in ${folder}: open index.html there`);
}
