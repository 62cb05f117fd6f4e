/** Picks the engine: the desktop shell's in the window, a scripted one in a demo build in a browser. */
import type { Backend } from './backend';

export async function connect(): Promise<Backend> {
  if ('__TAURI_INTERNALS__' in window) {
    return (await import('./tauri')).createBackend();
  }
  // A release build must not carry the script: the comparison is decided while building.
  if (import.meta.env.MODE !== 'production') {
    return (await import('./mock')).createBackend(new URLSearchParams(window.location.search));
  }
  throw new Error('This page is the window of Gistmill: start the Gistmill program to use it.');
}
