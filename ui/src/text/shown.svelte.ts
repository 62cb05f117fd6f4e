/** The language shown. Texts and figures read it, so that both follow when it changes. */
import type { Spoken } from './locale';

export const shown = $state<{ language: Spoken }>({ language: 'en' });
