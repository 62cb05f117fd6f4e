/** Moments that are worth measuring, in the browser's own list of them (`performance.getEntriesByType('mark')`). */

let marked = false;

/** Notes once that the first rows of the list are on the screen: `make bench-window` compares that with the start. */
export function markFirstRows(): void {
  if (marked) return;
  marked = true;
  // What a frame shows is painted when the turn after it begins.
  requestAnimationFrame(() => setTimeout(() => performance.mark('first-rows')));
}
