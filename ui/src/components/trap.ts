/** Keeps Tab inside what floats over the window: from the last control to the first one, and back. */
const CONTROLS =
  'a[href], button:not([disabled]), input:not([disabled]), select:not([disabled]), textarea:not([disabled]), summary, [tabindex]:not([tabindex="-1"])';

export function keepTabInside(event: KeyboardEvent, root: HTMLElement): void {
  if (event.key !== 'Tab' || event.defaultPrevented) return;
  const controls = [...root.querySelectorAll<HTMLElement>(CONTROLS)].filter(
    (control) => control.tabIndex >= 0 && control.getClientRects().length > 0,
  );
  const [first, last] = [controls[0], controls.at(-1)];
  const edge = event.shiftKey ? first : last;
  const active = document.activeElement;
  const outside = active === root || !root.contains(active);
  if (controls.length > 0 && active !== edge && !(outside && event.shiftKey)) return;
  event.preventDefault();
  (event.shiftKey ? last : first)?.focus();
}
