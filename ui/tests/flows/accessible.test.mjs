/**
 * Every screen of the gallery for those who can't see it, or see it large: axe in both themes, nothing cut off in small
 * windows, forced colours, still pictures, and where the focus goes. Writes `test-results/axe.json`.
 */
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { after, before, describe, it, test } from 'node:test';
import { showScreen } from '../../scripts/gallery.mjs';
import { SCREENS } from '../../scripts/screenshots.mjs';
import { openBrowser, openWindow, servePages } from './harness.mjs';

const REPORT = new URL('../../test-results/axe.json', import.meta.url);
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
// A window is not a page of a site: it needs no skip link.
const NOT_FOR_WINDOWS = { 'skip-link': { enabled: false }, region: { enabled: false } };
const SMALL = [
  { width: 900, height: 600 },
  { width: 760, height: 520 },
];

let pages, browser, axe;
const seen = [];
before(async () => {
  pages = await servePages();
  browser = await openBrowser();
  axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
});
after(async () => {
  await browser.close();
  await pages.close();
  const violations = seen.flatMap((each) => each.violations);
  const checks = seen.reduce((sum, each) => sum + each.passes, 0);
  await mkdir(new URL('.', REPORT), { recursive: true });
  await writeFile(REPORT, JSON.stringify({ screens: seen, violations: violations.length }, null, 2));
  console.log(
    `axe: ${seen.length} pictures of ${SCREENS.length} screens, ${checks} checks passed, ${violations.length} violations`,
  );
});

const query = (screen) => ({ ...screen, query: `theme=light&${screen.query}` });

async function examine(page, name, theme) {
  await page.evaluate((wanted) => {
    document.documentElement.dataset.theme = wanted;
    // Colours glide to those of the other theme: only where they arrive counts.
    void document.body.offsetWidth;
    for (const each of document.getAnimations()) if (each instanceof CSSTransition) each.finish();
  }, theme);
  const found = await page.evaluate(
    ([tags, rules]) => window.axe.run(document, { runOnly: tags, rules }),
    [TAGS, NOT_FOR_WINDOWS],
  );
  const violations = found.violations.map(
    (each) =>
      `${name}, ${theme}: ${each.id}: ${each.nodes.map((node) => `${node.html.slice(0, 160)} ${node.failureSummary}`).join(' | ')}`,
  );
  seen.push({ name, theme, passes: found.passes.length, violations });
  return violations;
}

/** What sticks out of the window, or is wider than what holds it without a way to scroll there. */
const cutOff = (page) =>
  page.evaluate(() => {
    const found = [];
    if (document.documentElement.scrollWidth > innerWidth) found.push('the window scrolls sideways');
    if (document.documentElement.scrollHeight > innerHeight + 2) found.push('the window scrolls');
    const top = document.querySelector('dialog[open]') ?? document.querySelector('#app');
    for (const control of top.querySelectorAll('button, input, select, textarea, a[href]')) {
      const box = control.getBoundingClientRect();
      if (box.width === 0 || box.height === 0 || control.closest('.vh')) continue;
      if (box.right > innerWidth + 1 || box.left < -1) {
        const scrolls = [];
        for (let at = control; at; at = at.parentElement) scrolls.push(getComputedStyle(at).overflowX);
        if (!scrolls.includes('auto') && !scrolls.includes('scroll'))
          found.push(`sticks out: ${control.outerHTML.slice(0, 120)}`);
      }
      const reachable = (() => {
        if (box.bottom <= innerHeight + 1 && box.top >= -1) return true;
        for (let at = control; at; at = at.parentElement)
          if (/auto|scroll/.test(getComputedStyle(at).overflowY)) return true;
        return false;
      })();
      if (!reachable) found.push(`can’t be scrolled to: ${control.outerHTML.slice(0, 120)}`);
    }
    return found;
  });

// Two at a time: a page waits as often as it works.
describe('every screen', { concurrency: 2 }, () => {
  for (const screen of SCREENS) {
    it(`${screen.name}: axe in both themes, nothing cut off in small windows`, async () => {
      const context = await browser.newContext({
        viewport: screen.narrowOnly ? SMALL[0] : { width: 1280, height: 800 },
        reducedMotion: 'reduce',
        locale: 'en-US',
      });
      const page = await context.newPage();
      await showScreen(page, pages.address, query(screen), 'en');
      await page.evaluate(axe);
      const said = [];
      for (const theme of ['light', 'dark']) said.push(...(await examine(page, screen.name, theme)));
      assert.deepEqual(said, []);
      assert.deepEqual(await cutOff(page), []);
      for (const size of SMALL) {
        await page.setViewportSize(size);
        await page.waitForTimeout(80);
        assert.deepEqual(await cutOff(page), [], `at ${size.width} x ${size.height}`);
      }
      await context.close();
    });
  }
});

const open = (text, options) => openWindow(browser, pages.address, text, options);

test('text at twice its size stays usable on every kind of screen', async () => {
  // A window of 1280 x 800 with everything twice as large has this many CSS pixels.
  for (const name of [
    'queue',
    'dead-letters',
    'add',
    'report',
    'settings-general',
    'settings-advanced',
    'palette',
    'keys',
    'welcome',
    'empty',
  ]) {
    const screen = SCREENS.find((each) => each.name === name);
    const context = await browser.newContext({
      viewport: { width: 640, height: 400 },
      reducedMotion: 'reduce',
    });
    const page = await context.newPage();
    await showScreen(page, pages.address, screen, 'en');
    assert.deepEqual(await cutOff(page), [], name);
    await context.close();
  }
});

test('with forced colours words, borders and the focus stay visible', async () => {
  const { page, complaints, close } = await open('freeze', { forcedColors: 'active' });
  await page.getByTestId('job-row').first().click();
  await page.keyboard.press('ArrowDown');
  const ring = await page.evaluate(() => {
    const style = getComputedStyle(document.activeElement);
    return { width: parseFloat(style.outlineWidth), kind: style.outlineStyle };
  });
  assert.ok(ring.width >= 2 && ring.kind !== 'none', `the row in focus has a ring: ${JSON.stringify(ring)}`);
  for (const [what, selector] of [
    ['a button', '.tool .btn'],
    ['a field', '.search'],
  ]) {
    const border = await page
      .locator(selector)
      .first()
      .evaluate((each) => parseFloat(getComputedStyle(each).borderTopWidth));
    assert.ok(border >= 1, `${what} keeps its border`);
  }
  assert.match(await page.getByTestId('job-row').first().innerText(), /Running/, 'the status is a word');
  await page.keyboard.press('Control+k');
  const chosen = page.locator('.palette-entry[aria-selected=true]');
  assert.ok(
    (await chosen.evaluate((each) => parseFloat(getComputedStyle(each).outlineWidth))) >= 2,
    'the current command is marked by more than a colour',
  );
  assert.deepEqual(complaints, []);
  await close();
});

test('who wants no motion gets none', async () => {
  const { page, close } = await open('freeze&pilot=running', { reducedMotion: 'reduce' });
  await page.getByTestId('job-row').first().waitFor();
  const moving = () =>
    page.evaluate(() =>
      document
        .getAnimations()
        .filter((each) => each.playState === 'running' && each.effect.getComputedTiming().duration > 1)
        .map((each) => `${each.animationName ?? each.transitionProperty} of ${each.effect.target.className}`),
    );
  assert.deepEqual(await moving(), []);
  await page.keyboard.press('Control+k');
  assert.deepEqual(await moving(), [], 'a dialog does not rise');
  await close();
});

test('every control shows its focus', async () => {
  for (const name of ['queue', 'settings-general', 'dead-letters', 'add', 'palette']) {
    const screen = SCREENS.find((each) => each.name === name);
    const context = await browser.newContext({
      viewport: { width: 1280, height: 800 },
      reducedMotion: 'reduce',
    });
    const page = await context.newPage();
    await showScreen(page, pages.address, screen, 'en');
    const bare = new Set();
    for (let at = 0; at < 30; at += 1) {
      await page.keyboard.press('Tab');
      const without = await page.evaluate(() => {
        const active = document.activeElement;
        if (!active || active === document.body) return null;
        // A field’s ring may be drawn by what holds it, a list’s by its current entry.
        const rings = [active, active.parentElement, active.closest('label, .inp, .sw, .chk')].filter(
          Boolean,
        );
        const shown = rings.some((each) => {
          const style = getComputedStyle(each);
          return (
            (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2) ||
            style.boxShadow !== 'none'
          );
        });
        return shown || active.getAttribute('role') === 'listbox' ? null : active.outerHTML.slice(0, 120);
      });
      if (without) bare.add(without);
    }
    assert.deepEqual([...bare], [], name);
    await context.close();
  }
});

/** What floats over the window: how it is opened from which control. */
const FLOATING = {
  'the list of commands': ['', (page) => page.locator('.foot-cmd')],
  'the keys': ['', (page) => page.locator('.foot-keys')],
  'a new prompt': ['', (page) => page.locator('.tool .btn').first()],
  'the files that are added': ['', (page) => page.getByTestId('add-pdfs'), '[data-testid=sheet-start]'],
  'the export': ['', (page) => page.getByTestId('export-all')],
};
for (const [name, [text, opener, ready = '*']] of Object.entries(FLOATING)) {
  test(`${name} keeps the focus and gives it back`, async () => {
    const { page, close } = await open(`freeze&${text}`);
    await opener(page).focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    await dialog.locator(ready).first().waitFor({ state: 'attached' });
    await page.waitForTimeout(100);
    assert.ok(await dialog.getAttribute('aria-label'), 'it has a name');
    for (const key of ['Tab', 'Shift+Tab']) {
      for (let at = 0; at < 25; at += 1) {
        await page.keyboard.press(key);
        assert.ok(
          await dialog.evaluate((box) => box.contains(document.activeElement)),
          `${key} ${at + 1} stays inside`,
        );
      }
    }
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    assert.ok(
      await opener(page).evaluate((control) => control === document.activeElement),
      'the opener has the focus again',
    );
    await close();
  });
}

test('a menu is a ring of its entries and gives the focus back', async () => {
  const { page, close } = await open('freeze');
  const chip = page.locator('.chips .chip').first();
  await chip.focus();
  await page.keyboard.press('Enter');
  const menu = page.getByRole('menu');
  await menu.waitFor();
  const count = await menu.locator('[data-entry]').count();
  for (let at = 0; at < count; at += 1) await page.keyboard.press('ArrowDown');
  assert.ok(
    await menu
      .locator('[data-entry]')
      .first()
      .evaluate((entry) => entry === document.activeElement),
    'down from the last leads to the first',
  );
  await page.keyboard.press('Escape');
  assert.ok(await chip.evaluate((control) => control === document.activeElement));
  await close();
});

test('milestones of a batch and a stopped lane are announced, politely and once', async () => {
  const { page, close } = await open('jobs=60');
  const live = page.locator('[role=status][aria-live=polite]').last();
  assert.equal(await live.innerText(), '', 'what was so at the start is no news');
  await page.waitForFunction(
    () =>
      /percent finished/.test(
        [...document.querySelectorAll('[role=status][aria-live=polite]')].at(-1).textContent,
      ),
    null,
    { timeout: 20_000 },
  );
  await close();
});
