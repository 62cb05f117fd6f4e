/** The platform's word for the command key, and when a key is meant for the window. */

export const commandKey = /Mac/.test(navigator.platform) ? 'Cmd' : 'Ctrl';

/** Whether the person is typing, so that single keys are letters. */
export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.isContentEditable)
  );
}

/** File paths in pasted text: one a line, plain, quoted or as file: addresses. */
export function pathsIn(text: string): string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.trim().replace(/^"(.*)"$/, '$1'))
    .map((line) => (line.startsWith('file://') ? decodeURI(line.slice('file://'.length)) : line))
    .filter((line) => /^(\/|[A-Za-z]:[\\/]|\\\\)/.test(line));
}

/** A letter, digit or sign by itself; Space presses and pauses, as everywhere. */
export function isSingleKey(event: KeyboardEvent): boolean {
  return event.key.length === 1 && event.key !== ' ' && !event.ctrlKey && !event.metaKey && !event.altKey;
}
