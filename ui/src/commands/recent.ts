/** The commands used last, newest first, kept over starts. */
const NAME = 'gistmill.commands';
const KEPT = 5;

export function recentCommands(): string[] {
  try {
    const kept: unknown = JSON.parse(window.localStorage.getItem(NAME) ?? '[]');
    return Array.isArray(kept) ? kept.filter((id) => typeof id === 'string').slice(0, KEPT) : [];
  } catch {
    // Without storage, or with something else in it, nothing was used yet.
    return [];
  }
}

export function rememberCommand(id: string): void {
  const ids = [id, ...recentCommands().filter((each) => each !== id)].slice(0, KEPT);
  try {
    window.localStorage.setItem(NAME, JSON.stringify(ids));
  } catch {
    // Nothing is remembered then.
  }
}
