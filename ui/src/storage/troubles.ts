/** Words what keeps uploads back. The engine speaks English: there its own sentences are the best ones. */
import type { UploadTrouble } from '../backend/types/UploadTrouble';
import type { UploadsView } from '../backend/types/UploadsView';
import { language, t } from '../text/text.svelte';

/** As a title with what to do; in another language the engine's words are kept as the detail. */
export function sayTrouble(trouble: UploadTrouble): { title: string; hint: string; detail: string } {
  if (language() === 'en') return { title: trouble.message, hint: trouble.hint, detail: '' };
  const words = t.storage.cause[trouble.cause];
  return { title: `${words.name}${t.common.fullStop}`, hint: words.hint, detail: trouble.message };
}

export interface UploadLine {
  text: string;
  /** Whether something has to be done; what waits goes on by itself. */
  bad: boolean;
}

/** Uploads in one line; `null` where there is nothing to say. */
export function uploadLine(uploads: UploadsView): UploadLine | null {
  const words = t.storage.line;
  if (!uploads.enabled) return null;
  if (uploads.waiting > 0 && uploads.trouble !== null) {
    const why = t.storage.cause[uploads.trouble.cause].name;
    return { text: words.waitingFor(uploads.waiting, why), bad: true };
  }
  if (uploads.failed > 0) return { text: words.failed(uploads.failed), bad: true };
  return uploads.waiting > 0 ? { text: words.waiting(uploads.waiting), bad: false } : null;
}
