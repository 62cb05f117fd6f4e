/** A span of time as it is typed, in seconds. */
import { readSeconds } from '../text/numbers';
import { t } from '../text/text.svelte';

/** What is wrong with what was typed, if anything is. */
export function checkSeconds(mostMs: number): (text: string) => string | null {
  return (text) => {
    const typed = readSeconds(text);
    return typed !== null && typed <= mostMs ? null : t.settings.secondsBad(mostMs / 1000);
  };
}
