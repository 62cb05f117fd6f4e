/** One timer for every countdown: text that counts changes once a second, and not at all while nobody looks. */

const state = $state({ now: Date.now() });
let frozenAt: number | null = null;

/** The moment shown, in milliseconds since 1970. Reading it in markup makes that follow the clock. */
export function now(): number {
  return state.now;
}

/** The real moment, or the one it was frozen at. */
export function currentTime(): number {
  return frozenAt ?? Date.now();
}

/** Stops time for pictures that have to be the same every time. */
export function freezeClock(moment: number): void {
  frozenAt = moment;
  state.now = moment;
}

/** Starts the timer; ends with the returned function. */
export function startClock(): () => void {
  const tick = (): void => {
    if (!document.hidden) state.now = currentTime();
  };
  const timer = setInterval(tick, 1000);
  document.addEventListener('visibilitychange', tick);
  tick();
  return () => {
    clearInterval(timer);
    document.removeEventListener('visibilitychange', tick);
  };
}
