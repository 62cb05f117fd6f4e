/** Hands the window's toasts to what floats over it. */
import { createContext } from 'svelte';
import type { Toasts } from './toasts.svelte';

const [get, set] = createContext<Toasts>();

export const provideToasts = set;

/** The window's toasts; none in a component that is shown alone. */
export function useToasts(): Toasts | null {
  try {
    return get();
  } catch {
    return null;
  }
}
