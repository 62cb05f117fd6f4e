import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  plugins: [svelte()],
  // Relative addresses: the window loads the files from tauri://localhost.
  base: './',
  clearScreen: false,
  server: { port: 5173, strictPort: true },
  build: {
    // The oldest web view to serve: WebKitGTK of Debian 12 and macOS 13.
    target: 'safari16',
    // The window's CSP allows nothing inline, so no file is inlined as data: either.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        // pdf.js asks for its decoder by name.
        assetFileNames: ({ names }) =>
          names.some((name) => name.includes('nowasm_fallback'))
            ? 'assets/pdf/[name][extname]'
            : 'assets/[name]-[hash][extname]',
      },
    },
  },
  // Svelte has a server build; component tests need the one of the browser.
  resolve: process.env['VITEST'] ? { conditions: ['browser'] } : {},
  test: {
    environment: 'happy-dom',
    include: ['tests/unit/**/*.test.ts'],
    setupFiles: ['tests/unit/setup.ts'],
    isolate: true,
    maxWorkers: 2,
  },
});
