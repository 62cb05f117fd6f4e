/** Takes the pictures of screens, several at a time, and writes a page to browse them. */
import { mkdir, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { openBrowser, servePages } from '../tests/flows/harness.mjs';

export const SIZES = [
  { width: 1280, height: 800 },
  { width: 900, height: 600 },
  { width: 760, height: 520 },
];
export const THEMES = ['light', 'dark'];
export const LANGUAGES = ['en', 'ja'];
/** Long enough for what appears with a short delay. */
const SETTLE_MS = 150;
const TRIES = 2;

/** Shows a screen in a page that was opened in a window of some size. */
export async function showScreen(page, address, screen, language) {
  await page.goto(`${address}?freeze&lang=${language}&${screen.query}`);
  await page.locator('#app > *').first().waitFor({ state: 'attached' });
  await page.waitForTimeout(SETTLE_MS);
  await screen.act?.(page);
  if (screen.leaveDrawer === false && page.viewportSize().width <= 1100) await page.keyboard.press('Escape');
  await page.waitForTimeout(SETTLE_MS);
}

/** Takes every picture and answers how many there are. */
export async function takePictures(screens, folder) {
  const pages = await servePages();
  const browser = await openBrowser();
  await mkdir(folder, { recursive: true });
  const work = SIZES.flatMap((size) =>
    screens
      .filter((screen) => !(screen.narrowOnly && size.width > 1100))
      .flatMap((screen) => LANGUAGES.map((language) => ({ size, screen, language }))),
  );
  const taken = [];
  const failed = [];
  const next = async () => {
    for (let each = work.shift(); each; each = work.shift()) {
      try {
        taken.push(...(await picturesOf(browser, pages.address, folder, each)));
      } catch (error) {
        failed.push(`${each.screen.name}, ${each.language}, ${each.size.width}: ${error}`);
      }
    }
  };
  // A page waits most of the time.
  await Promise.all(Array.from({ length: availableParallelism() + 1 }, next));
  await browser.close();
  await pages.close();
  await writeFile(path.join(folder, 'index.html'), galleryOf(screens, taken));
  for (const each of failed) console.error(`No picture of ${each}`);
  if (failed.length > 0) process.exitCode = 1;
  return taken.length;
}

async function picturesOf(browser, address, folder, { size, screen, language }) {
  for (let tried = 1; ; tried += 1) {
    const context = await browser.newContext({ viewport: size, reducedMotion: 'reduce', locale: 'en-US' });
    try {
      const page = await context.newPage();
      await showScreen(page, address, screen, language);
      const taken = [];
      for (const theme of THEMES) {
        // The window follows the system's theme at once.
        await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
        await page.waitForFunction((wanted) => document.documentElement.dataset.theme === wanted, theme);
        const name = `${screen.name}-${theme}-${language}-${size.width}x${size.height}.png`;
        await page.screenshot({ path: path.join(folder, name), animations: 'disabled' });
        taken.push(name);
      }
      return taken;
    } catch (error) {
      // A busy machine may be late once.
      if (tried === TRIES) throw error;
    } finally {
      await context.close();
    }
  }
}

function galleryOf(screens, taken) {
  const has = new Set(taken);
  const sections = screens.map((screen) => {
    const rows = LANGUAGES.flatMap((language) =>
      SIZES.map(({ width, height }) => {
        const pictures = THEMES.map((theme) => `${screen.name}-${theme}-${language}-${width}x${height}.png`);
        const shown = pictures.filter((name) => has.has(name));
        if (shown.length === 0) return '';
        const images = shown.map(
          (name) => `<a href="${name}"><img loading="lazy" src="${name}" alt="${name}"></a>`,
        );
        return `<div class="row" data-language="${language}" data-size="${width}">${images.join('')}</div>`;
      }),
    );
    return `<section id="${screen.name}"><h2>${screen.name}</h2>${rows.join('')}</section>`;
  });
  const links = screens.map(({ name }) => `<a href="#${name}">${name}</a>`).join(' ');
  const choices = [
    ...LANGUAGES.map((language) => ['language', language]),
    ...SIZES.map(({ width }) => ['size', String(width)]),
  ].map(([kind, value]) => `<label><input type="checkbox" checked data-${kind}="${value}"> ${value}</label>`);
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Gistmill: ${taken.length} pictures of ${screens.length} screens</title>
<style>
  body { margin: 0; font: 13px/20px system-ui, sans-serif; background: #6d7371; color: #fff; }
  header { position: sticky; top: 0; padding: 8px 16px; background: #2b302e; z-index: 1; }
  header label { margin-right: 12px; }
  nav { padding: 8px 16px; }
  a { color: inherit; }
  section { padding: 8px 16px 24px; scroll-margin-top: 40px; }
  h2 { font-size: 16px; margin: 8px 0; }
  .row { display: flex; gap: 12px; margin-bottom: 12px; align-items: flex-start; }
  .row a { flex: 0 1 auto; min-width: 0; }
  img { display: block; max-width: 100%; }
</style>
<header><b>${taken.length} pictures of ${screens.length} screens</b> &nbsp; ${choices.join('')}</header>
<nav>${links}</nav>
${sections.join('\n')}
<script>
  const boxes = [...document.querySelectorAll('input')];
  const show = () => {
    for (const row of document.querySelectorAll('.row'))
      row.hidden = boxes.some((box) => !box.checked && Object.entries(box.dataset).some(([k, v]) => row.dataset[k] === v));
  };
  boxes.forEach((box) => box.addEventListener('change', show));
</script>
<style>.row[hidden] { display: none; }</style>
</html>
`;
}
