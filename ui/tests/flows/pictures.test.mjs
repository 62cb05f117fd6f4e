/**
 * Key screens look as they did: their pictures against those in `tests/looks`. A change that is meant takes them anew with
 * `UPDATE_LOOKS=1`; a failure leaves what is now and what differs in `test-results/looks`.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, before, test } from 'node:test';
import pixelmatch from 'pixelmatch';
import { PNG } from 'pngjs';
import { showScreen } from '../../scripts/gallery.mjs';
import { SCREENS } from '../../scripts/screenshots.mjs';
import { openBrowser, servePages } from './harness.mjs';

const here = (folder) => fileURLToPath(new URL(folder, import.meta.url));
const KEPT = here('../looks');
const RESULTS = here('../../test-results/looks');
const UPDATE = process.env.UPDATE_LOOKS === '1';

/** How far a pixel may be off, from 0 to 1; edges of letters may be off further. */
const TOLERANCE = 0.15;
/** How many may be off. Less than a word that changed. */
const MOST_OFF = 0.0005;
/** Levels of a colour that are kept: pictures of text are a third smaller, and what is lost is within the tolerance. */
const STEP = 17;

const LARGE = { width: 1280, height: 800 };
const NARROW = { width: 900, height: 600 };
const SMALL = { width: 760, height: 520 };

const LOOKS = [
  ...[
    'welcome',
    'empty',
    'queue',
    'queue-selection',
    'dead-letters',
    'drop',
    'add',
    'report',
    'reader',
    'pilot-ended',
    'prompt',
    'keys',
    'palette',
    'settings-general',
    'settings-models',
    'settings-templates',
    'settings-advanced',
  ].map((name) => ({ name, theme: 'light', language: 'en', size: LARGE })),
  { name: 'queue', theme: 'dark', language: 'ja', size: NARROW },
  { name: 'add', theme: 'dark', language: 'en', size: NARROW },
  { name: 'report', theme: 'light', language: 'ja', size: SMALL },
  { name: 'dead-letters', theme: 'dark', language: 'ja', size: SMALL },
];

/** The fonts that the kept pictures were taken with; elsewhere every letter differs. */
function hasFonts() {
  try {
    const fonts = execFileSync('fc-list', ['--format=%{family}\n'], { encoding: 'utf8' });
    return /^Noto Sans(,|$)/m.test(fonts) && /Noto Sans CJK JP/.test(fonts);
  } catch {
    return false;
  }
}

let pages, browser;
before(async () => {
  pages = await servePages();
  browser = await openBrowser();
  await mkdir(RESULTS, { recursive: true });
});
after(async () => {
  await browser.close();
  await pages.close();
});

async function take({ name, theme, language, size }) {
  const context = await browser.newContext({
    viewport: size,
    reducedMotion: 'reduce',
    colorScheme: theme,
    locale: 'en-US',
  });
  const page = await context.newPage();
  await showScreen(
    page,
    pages.address,
    SCREENS.find((screen) => screen.name === name),
    language,
  );
  // Tokens are counted until they are counted.
  await page.waitForFunction(() => document.querySelector('.fig-tokens .bar') === null);
  await page.waitForTimeout(250);
  const picture = PNG.sync.read(await page.screenshot({ animations: 'disabled', caret: 'hide' }));
  await context.close();
  for (let at = 0; at < picture.data.length; at += 1) {
    picture.data[at] = Math.round(picture.data[at] / STEP) * STEP;
  }
  return picture;
}

const written = (picture) => PNG.sync.write(picture, { colorType: 2, deflateLevel: 9, filterType: -1 });

const skip = hasFonts() ? false : 'the fonts of scripts/prerequisites are not installed';
for (const look of LOOKS) {
  const name = `${look.name}-${look.theme}-${look.language}-${look.size.width}.png`;
  test(`${name} looks as it did`, { skip }, async () => {
    let now = await take(look);
    if (UPDATE) {
      await writeFile(path.join(KEPT, name), written(now));
      return;
    }
    const kept = PNG.sync.read(await readFile(path.join(KEPT, name)));
    const diff = new PNG({ width: kept.width, height: kept.height });
    const differing = () =>
      pixelmatch(kept.data, now.data, diff.data, kept.width, kept.height, { threshold: TOLERANCE });
    const most = MOST_OFF * kept.width * kept.height;
    let off = differing();
    if (off > most) {
      // A busy machine may have been late once.
      now = await take(look);
      off = differing();
    }
    if (off <= most) return;
    const ratio = off / (kept.width * kept.height);
    await writeFile(path.join(RESULTS, name.replace('.png', '-now.png')), written(now));
    await writeFile(path.join(RESULTS, name.replace('.png', '-differs.png')), written(diff));
    assert.fail(
      `${off} pixels (${(ratio * 100).toFixed(2)} %) differ: look at ui/test-results/looks/${name.replace('.png', '-*.png')}. ` +
        'If it is meant, take the pictures anew: cd ui && npm run build:demo && UPDATE_LOOKS=1 node --test tests/flows/pictures.test.mjs',
    );
  });
}
