/** Every screen of the gallery says the same whether it was opened in a language or switched to it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { showScreen } from '../../scripts/gallery.mjs';
import { SCREENS } from '../../scripts/screenshots.mjs';
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

/** What was said once stays as it was said, and what was typed as it was typed. */
const SAID_ONCE = /toast|undo|error-overlay|palette-found|report-one|endpoint-draft/;

const wordsOf = (page) =>
  page.evaluate(() => {
    const read = [...document.querySelectorAll('[aria-label], [title], [placeholder]')].flatMap((each) =>
      ['aria-label', 'title', 'placeholder'].map((name) => each.getAttribute(name)),
    );
    // What was announced was announced.
    for (const live of document.querySelectorAll('.vh[role=status]')) live.textContent = '';
    const lines = `${document.body.innerText}\n${read.filter(Boolean).join('\n')}\n${document.title}`;
    return lines
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean);
  });

/** The words once they stay: figures arrive, pages are drawn and names are fitted a moment after a screen is there. */
async function settledWords(page) {
  let words = await wordsOf(page);
  for (let look = 0; look < 20; look += 1) {
    await page.waitForTimeout(250);
    const later = await wordsOf(page);
    if (later.join('\n') === words.join('\n')) return later;
    words = later;
  }
  return words;
}

async function differences(screen) {
  const context = await browser.newContext({
    viewport: screen.narrowOnly ? { width: 900, height: 600 } : { width: 1280, height: 800 },
    reducedMotion: 'reduce',
    locale: 'en-US',
  });
  const page = await context.newPage();
  await showScreen(page, pages.address, screen, 'ja');
  const opened = await settledWords(page);
  await showScreen(page, pages.address, screen, 'en');
  await page.evaluate(() => window.gistmillMock.speak('ja'));
  const switched = await settledWords(page);
  await context.close();
  return switched.filter((line) => !opened.includes(line)).map((line) => `${screen.name}: ${line}`);
}

test('every screen switches at once and completely', async () => {
  const work = SCREENS.filter((screen) => !SAID_ONCE.test(screen.name));
  const found = [];
  const next = async () => {
    for (let screen = work.shift(); screen; screen = work.shift()) found.push(...(await differences(screen)));
  };
  await Promise.all([next(), next(), next()]);
  // A window that was opened in Japanese does not have these lines.
  assert.equal(found.length, 0, `${found.length} lines stay:\n${found.slice(0, 60).join('\n')}`);
});

test('the language chosen in General holds at once, and the system’s when it is given back', async () => {
  const { page, close } = await openWindow(browser, pages.address, 'freeze', { locale: 'en-US' });
  await page.getByTestId('settings-open').click();
  const language = page.getByRole('radiogroup').first();
  await language.getByRole('radio', { name: '日本語' }).click();
  await page.getByRole('heading', { name: '一般' }).waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.lang), 'ja');
  await language.getByRole('radio', { name: 'システム' }).click();
  await page.getByRole('heading', { name: 'General' }).waitFor();
  await close();
});

test('numbers, money and moments follow the language and its region', async () => {
  for (const [locale, clock] of [
    ['en-US', /18:\d\d/],
    ['en-GB', /18:\d\d/],
    ['ja-JP', /18:\d\d/],
  ]) {
    const { page, close } = await openWindow(browser, pages.address, 'freeze', { locale });
    await page.getByTestId('job-row').filter({ hasText: 'biochar' }).click();
    await page.getByTestId('detail-summary').waitFor();
    const text = await page.locator('body').innerText();
    assert.match(text, clock, locale);
    assert.match(text, /\$\d+\.\d\d/, `${locale}: money is in dollars, with a plain sign`);
    assert.doesNotMatch(text, /NaN|undefined|Invalid/, locale);
    await close();
  }
});
