/**
 * Every cause in plain words. `name` fits a table cell (about 22 letters), `meaning` is one sentence, `fix` completes
 * "Fix: …" in a cell, `hint` is the fix as a sentence.
 */
import type { Cause } from '../backend/types/Cause';

export interface CauseWords {
  name: string;
  meaning: string;
  fix: string;
  hint: string;
}

export const causesEn: Record<Cause, CauseWords> = {
  'cut-off': {
    name: 'Cut off at the limit',
    meaning: 'The answer stopped at the output limit, so its end is missing.',
    fix: 'raise the limit',
    hint: 'Raise the output limit in Settings and run it again; what came so far is kept.',
  },
  declined: {
    name: 'Declined to answer',
    meaning: 'The model declined to summarize this file.',
    fix: 'read what came',
    hint: 'Read what came, or run it again with another model or template.',
  },
  'context-filled': {
    name: 'Model window is full',
    meaning: 'Document and answer together filled the model’s context window.',
    fix: 'use a larger model',
    hint: 'Read what came, or run it again with a model that has a larger window.',
  },
  'unknown-stop-reason': {
    name: 'Stopped unexpectedly',
    meaning: 'The model stopped for a reason this version does not know.',
    fix: 'read what came',
    hint: 'Read what came, then run it again.',
  },
  'empty-answer': {
    name: 'Empty answer',
    meaning: 'An answer came, but it held no text.',
    fix: 'run it again',
    hint: 'Run it again.',
  },
  'fields-invalid': {
    name: 'Fields don’t fit',
    meaning: 'The answer is not the fields that the template asks for.',
    fix: 'run it again',
    hint: 'Run it again; if it stays so, say more clearly in the template what each field holds.',
  },
  'document-not-read': {
    name: 'PDF was not read',
    meaning: 'So few tokens were counted that the PDF cannot have been read.',
    fix: 'send text instead',
    hint: 'The endpoint seems to drop PDFs: don’t trust the text. Have the text of PDFs sent in Settings, or use another endpoint; then run it again.',
  },
  'rate-limited': {
    name: 'Rate limit',
    meaning: 'Too many requests or tokens for the minute, every time it was tried.',
    fix: 'run it again later',
    hint: 'Run it again later; nothing has to be changed.',
  },
  'ramp-limited': {
    name: 'Rose too fast',
    meaning: 'Use of the account grew faster than the provider allows.',
    fix: 'run it again later',
    hint: 'Run it again later; nothing has to be changed.',
  },
  overloaded: {
    name: 'Provider overloaded',
    meaning: 'The provider was too busy each time it was asked.',
    fix: 'run it again later',
    hint: 'Run it again later; nothing has to be changed.',
  },
  'server-error': {
    name: 'Provider error',
    meaning: 'The provider failed on its side each time it was asked.',
    fix: 'run it again later',
    hint: 'Run it again later; nothing has to be changed.',
  },
  'timed-out': {
    name: 'No answer in time',
    meaning: 'The call was cut off after waiting too long. The provider may still bill it.',
    fix: 'run it again',
    hint: 'Check the connection, then run it again.',
  },
  'connection-failed': {
    name: 'Connection lost',
    meaning: 'The provider could not be reached, or the connection broke before an answer began.',
    fix: 'check the connection',
    hint: 'Check the connection, then run it again.',
  },
  'stream-cut': {
    name: 'Answer broke off',
    meaning: 'The connection broke in the middle of the answer. The provider may bill it.',
    fix: 'run it again',
    hint: 'Check the connection, then run it again.',
  },
  'batch-expired': {
    name: 'Batch ended first',
    meaning: 'The batch API ended before it got to the job. It was not billed.',
    fix: 'run it again',
    hint: 'Run it again, or have each job delivered by a call of its own.',
  },
  'batch-lost': {
    name: 'Outcome unknown',
    meaning: 'What the batch API made of the job can’t be found out any more. It may be billed.',
    fix: 'run it again',
    hint: 'Run it again. The request may have been answered and billed.',
  },
  'pdf-not-processed': {
    name: 'PDF not processed',
    meaning: 'The provider could not process the PDF, which is known to pass now and then.',
    fix: 'run it again',
    hint: 'Run it again; if it fails once more, print the PDF to a new PDF.',
  },
  'unexpected-status': {
    name: 'Unexpected answer',
    meaning: 'The provider answered with a status nobody foresaw.',
    fix: 'run it again',
    hint: 'Run it again; if it stays, read the message of the attempt.',
  },
  interrupted: {
    name: 'Cut off after sending',
    meaning: 'Gistmill stopped during the call: it may have run and may be billed.',
    fix: 'run it again',
    hint: 'Run it again. The call that was cut off may still be billed.',
  },
  offline: {
    name: 'No connection',
    meaning: 'The provider can’t be reached.',
    fix: 'check the connection',
    hint: 'Check the connection; it is tried again by itself.',
  },
  'storage-failed': {
    name: 'Result not saved',
    meaning: 'The result could not be written: the disk is full or read-only.',
    fix: 'free disk space',
    hint: 'Free disk space or make the folder writable; jobs go on by themselves.',
  },
  'file-missing': {
    name: 'File has moved',
    meaning: 'The PDF is not where it was when it was added.',
    fix: 'put it back',
    hint: 'Put the file back where it was, then run it again.',
  },
  'file-unreadable': {
    name: 'File can’t be read',
    meaning: 'The file can’t be opened: permissions, or an error of the disk.',
    fix: 'make it readable',
    hint: 'Make the file readable for your user, then run it again.',
  },
  'file-changed': {
    name: 'File has changed',
    meaning: 'The file is not the one that was added.',
    fix: 'add it once more',
    hint: 'Add the file once more to summarize its new version.',
  },
  'file-empty': {
    name: 'Empty file',
    meaning: 'The file has no content.',
    fix: 'get it again',
    hint: 'Download or copy the file again.',
  },
  'not-a-pdf': {
    name: 'Not a PDF',
    meaning: 'The file’s name ends in .pdf, but its content is something else.',
    fix: 'export it as PDF',
    hint: 'Save or export the document as a PDF and add that.',
  },
  'pdf-damaged': {
    name: 'Damaged PDF',
    meaning: 'The PDF’s structure is broken beyond reading.',
    fix: 'print to a new PDF',
    hint: 'Open it in a PDF reader, print it to a new PDF and add that.',
  },
  'pdf-truncated': {
    name: 'End is missing',
    meaning: 'The PDF’s end is missing, as after a download that broke off.',
    fix: 'get it again',
    hint: 'Download or copy the file again.',
  },
  'pdf-encrypted': {
    name: 'Password-protected',
    meaning: 'The PDF is locked with a password and can’t be read without it.',
    fix: 'enter the password',
    hint: 'Enter its password: it is used on this machine only, and forgotten when Gistmill closes.',
  },
  'pdf-cipher-unknown': {
    name: 'Unknown encryption',
    meaning: 'The PDF is encrypted in a way that can’t be opened here, not even with its password.',
    fix: 'print to a new PDF',
    hint: 'Open it in the PDF reader it was made for, print it to a new PDF and add that.',
  },
  'pdf-hostile': {
    name: 'Dangerous PDF',
    meaning: 'Reading this PDF crashed or blocked the process that inspects it.',
    fix: 'don’t trust it',
    hint: 'Don’t trust this file. If you know it, print it to a new PDF and add that.',
  },
  'files-not-taken': {
    name: 'Too large to upload',
    meaning: 'The file is too large for one call, and the endpoint takes no files before it.',
    fix: 'reduce its images',
    hint: 'Gistmill divides long PDFs by itself, but a single page must fit in a call. Have the text sent, or reduce its images and add it again.',
  },
  'pdf-not-taken': {
    name: 'PDFs not taken',
    meaning: 'The endpoint or the model takes no PDFs; nothing was sent.',
    fix: 'send text instead',
    hint: 'Have their text sent, or use an endpoint that reads PDFs; then run it again.',
  },
  'pdf-without-text': {
    name: 'No text layer',
    meaning: 'There is no text to work with: the PDF seems to be scanned.',
    fix: 'send the PDF',
    hint: 'Send it to Claude as a PDF, whose pages are read as images.',
  },
  'too-large': {
    name: 'File too large',
    meaning: 'The file, or one of its pages, is larger than can be sent.',
    fix: 'reduce its images',
    hint: 'Gistmill divides long PDFs by itself, but a single page must fit in a call. Reduce its images and add it again.',
  },
  'too-many-pages': {
    name: 'Too many pages',
    meaning: 'The PDF has more pages than one request takes, and could not be divided.',
    fix: 'print to a new PDF',
    hint: 'Gistmill divides long PDFs by itself, but could not divide this one. Print it to a new PDF and add that.',
  },
  'prompt-too-long': {
    name: 'Too long for the model',
    meaning: 'It does not fit the model’s context window, not even in parts.',
    fix: 'use a larger model',
    hint: 'Use a model with a larger window or lower the output limit; or add a book volume by volume.',
  },
  'content-filtered': {
    name: 'Content filter',
    meaning: 'The provider’s content filter refused the file.',
    fix: 'change the template',
    hint: 'Run it again with another template or model.',
  },
  'invalid-request': {
    name: 'Request refused',
    meaning: 'The provider says that the request itself is wrong.',
    fix: 'read the message',
    hint: 'Read the message; change the template or model and run it again.',
  },
  'key-missing': {
    name: 'No key',
    meaning: 'No API key is set.',
    fix: 'add a key',
    hint: 'Add an Anthropic API key.',
  },
  'key-refused': {
    name: 'Key refused',
    meaning: 'The provider refused the API key.',
    fix: 'test the key',
    hint: 'Test the key in Settings, or paste a new one.',
  },
  'billing-problem': {
    name: 'Payment problem',
    meaning: 'The provider reports a problem with the payment details.',
    fix: 'check the payment',
    hint: 'Check the payment details in the Anthropic Console.',
  },
  'permission-denied': {
    name: 'Not permitted',
    meaning: 'The key may not do this.',
    fix: 'use another key',
    hint: 'Use a key that may call this model.',
  },
  'model-not-found': {
    name: 'Model not found',
    meaning: 'The provider does not know the model, or the key may not use it.',
    fix: 'choose a model',
    hint: 'Choose another model in Settings.',
  },
  'model-retired': {
    name: 'Model retired',
    meaning: 'The model has been retired and answers no more.',
    fix: 'choose a model',
    hint: 'Choose a current model; waiting jobs are given it, too.',
  },
  'batches-not-offered': {
    name: 'No batch API',
    meaning: 'The address has no batch API.',
    fix: 'run call by call',
    hint: 'Have each job asked by a call of its own, or use an address with a batch API.',
  },
  'credit-exhausted': {
    name: 'Credit ran out',
    meaning: 'The account’s credit is used up.',
    fix: 'buy credits',
    hint: 'Buy credits in the Anthropic Console, then try again.',
  },
  'usage-limit-reached': {
    name: 'Usage limit reached',
    meaning: 'A usage limit set at the provider is reached.',
    fix: 'raise the limit',
    hint: 'Raise the limit in the Anthropic Console, or wait until it is reset.',
  },
  'spend-limit-reached': {
    name: 'Spend limit reached',
    meaning: 'The spend limit at the provider is reached.',
    fix: 'raise the limit',
    hint: 'Raise the limit in the Anthropic Console, or wait until it is reset.',
  },
  'organization-on-hold': {
    name: 'Account on hold',
    meaning: 'The provider has put the organization on hold.',
    fix: 'contact Anthropic',
    hint: 'Contact Anthropic’s support about the organization.',
  },
};
