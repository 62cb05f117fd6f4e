/** How a cause is drawn: brick needs the person, orange is passing trouble, grain is solved by a change, grey is the file. */
import type { IconName } from '../components/icons';
import type { Cause } from '../backend/types/Cause';
import type { Look } from '../queue/status';

const BY_CAUSE: Partial<Record<Cause, { icon: IconName; look: Look }>> = {
  'cut-off': { icon: 'review', look: 'review' },
  declined: { icon: 'review', look: 'review' },
  'context-filled': { icon: 'longdoc', look: 'review' },
  'unknown-stop-reason': { icon: 'review', look: 'review' },
  'empty-answer': { icon: 'review', look: 'review' },
  'fields-invalid': { icon: 'review', look: 'review' },
  'document-not-read': { icon: 'review', look: 'review' },
  overloaded: { icon: 'server', look: 'retry' },
  'server-error': { icon: 'server', look: 'retry' },
  'unexpected-status': { icon: 'server', look: 'retry' },
  'rate-limited': { icon: 'timer', look: 'retry' },
  'ramp-limited': { icon: 'timer', look: 'retry' },
  'timed-out': { icon: 'timer', look: 'retry' },
  'connection-failed': { icon: 'offline', look: 'retry' },
  'stream-cut': { icon: 'offline', look: 'retry' },
  interrupted: { icon: 'unknown', look: 'review' },
  'batch-expired': { icon: 'timer', look: 'retry' },
  'batch-lost': { icon: 'unknown', look: 'review' },
  'pdf-not-processed': { icon: 'broken', look: 'retry' },
  offline: { icon: 'offline', look: 'retry' },
  'storage-failed': { icon: 'warn', look: 'dead' },
  'pdf-truncated': { icon: 'broken', look: 'idle' },
  'pdf-cipher-unknown': { icon: 'lock', look: 'idle' },
  'pdf-encrypted': { icon: 'lock', look: 'dead' },
  'pdf-hostile': { icon: 'warn', look: 'dead' },
  'too-many-pages': { icon: 'longdoc', look: 'wait' },
  'too-large': { icon: 'longdoc', look: 'wait' },
  'prompt-too-long': { icon: 'longdoc', look: 'wait' },
  'pdf-without-text': { icon: 'file', look: 'wait' },
  'model-retired': { icon: 'stop', look: 'wait' },
  'model-not-found': { icon: 'stop', look: 'wait' },
  'files-not-taken': { icon: 'longdoc', look: 'wait' },
  'pdf-not-taken': { icon: 'file', look: 'wait' },
  'batches-not-offered': { icon: 'moon', look: 'wait' },
  'content-filtered': { icon: 'cancelled', look: 'wait' },
  'invalid-request': { icon: 'warn', look: 'wait' },
  'pdf-damaged': { icon: 'broken', look: 'idle' },
  'not-a-pdf': { icon: 'broken', look: 'idle' },
  'file-missing': { icon: 'file', look: 'idle' },
  'file-unreadable': { icon: 'lock', look: 'idle' },
  'file-changed': { icon: 'file', look: 'idle' },
  'file-empty': { icon: 'file', look: 'idle' },
  'key-missing': { icon: 'key', look: 'dead' },
  'key-refused': { icon: 'key', look: 'dead' },
  'permission-denied': { icon: 'key', look: 'dead' },
  'billing-problem': { icon: 'card', look: 'dead' },
  'credit-exhausted': { icon: 'card', look: 'dead' },
};

export function causeLook(cause: Cause): { icon: IconName; look: Look } {
  return BY_CAUSE[cause] ?? { icon: 'dead', look: 'dead' };
}
