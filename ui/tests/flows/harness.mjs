/** Serves the demo build with the window's own CSP, and opens Debian's Chromium on it. */
import { chromium } from 'playwright-core';
import { preview } from 'vite';

/** As in the desktop window, so that a style or script it would refuse fails here too. */
const CSP = "default-src 'self'; img-src 'self' data:; connect-src 'self' ipc: http://ipc.localhost";

export async function servePages() {
  const server = await preview({
    root: new URL('../..', import.meta.url).pathname,
    logLevel: 'error',
    build: { outDir: 'dist-demo' },
    preview: { port: 0, strictPort: false, headers: { 'Content-Security-Policy': CSP } },
  });
  const { port } = server.httpServer.address();
  return { address: `http://localhost:${port}/`, close: () => server.close() };
}

export function openBrowser() {
  return chromium.launch({
    executablePath: process.env.GISTMILL_CHROMIUM ?? '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

/** Opens a page of the window; whatever it complains about ends up in `complaints`. */
export async function openWindow(browser, address, query, options = {}) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    locale: 'en-US',
    reducedMotion: 'reduce',
    ...options,
  });
  const page = await context.newPage();
  const complaints = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(`${address}?${query}`);
  await page.locator('main').waitFor();
  return { page, complaints, close: () => context.close() };
}
