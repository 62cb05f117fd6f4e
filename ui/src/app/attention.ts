/**
 * Whether anyone looks: a window that is hidden or behind another one stops its animation (`data-still` on the root,
 * see styles/status.css) and refreshes once a second.
 */
let focused = true;

export const isAttended = (): boolean => focused && !document.hidden;

/** Follows the window's focus; ends with the returned function. */
export function watchAttention(): () => void {
  const look = (): void => {
    document.documentElement.toggleAttribute('data-still', !isAttended());
  };
  // By the events and not by `hasFocus`: a window that was never given the focus, as without a window manager, is seen.
  const onblur = (): void => {
    focused = false;
    look();
  };
  const onfocus = (): void => {
    focused = true;
    look();
  };
  window.addEventListener('blur', onblur);
  window.addEventListener('focus', onfocus);
  document.addEventListener('visibilitychange', look);
  look();
  return () => {
    window.removeEventListener('blur', onblur);
    window.removeEventListener('focus', onfocus);
    document.removeEventListener('visibilitychange', look);
    onfocus();
  };
}
