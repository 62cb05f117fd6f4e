/** What is known of a document, and how the parts of a long one stand. */
import { count } from './format';

const pages = (n: number): string => `${count(n)} ${n === 1 ? 'page' : 'pages'}`;
const files = (n: number): string => `${count(n)} ${n === 1 ? 'file' : 'files'}`;

export const documentsEn = {
  document: 'Document',
  title: 'Title',
  language: 'Language',
  text: 'Text',
  encryption: 'Lock',
  attachments: 'Attached',
  fields: 'Form',
  state: 'State',
  sent: 'Sent',
  size: 'Size',
  textOnAll: (n: number) => (n === 1 ? 'on its page' : `on all ${pages(n)}`),
  textOnSome: (some: number, n: number) => `on ${count(some)} of ${pages(n)}`,
  scanned: 'none: scanned pages',
  unreliable: (where: string, percent: number) => `${where}, ${count(percent)} % of its characters unknown`,
  opensFreely: (cipher: string) => `${cipher}, opens without a password`,
  needsPassword: (cipher: string) => `${cipher}, needs a password`,
  unsupported: (cipher: string) => `${cipher}, can’t be opened here`,
  encrypted: 'Encrypted',
  attached: (n: number) => `${files(n)}, not sent`,
  fieldsUnseen: (n: number) => `${count(n)} filled-in ${n === 1 ? 'field' : 'fields'} may not be seen`,
  repaired: 'A repaired copy is sent',
  uncertain: 'Page count uncertain',
  notInCopy: 'Not sent',
  annotationsLost: 'Comments, filled-in fields and layers: the copy lacks them',
  asPdf: 'The PDF: text and pictures',
  asText: 'Its text only',
  textOnlyMark: 'sent as text',
  picture: (title: string) => `First page of ${title}`,
  noPicture: 'No picture of the first page',
  parts: 'Parts',
  partOf: (n: number, total: number) => `Part ${count(n)} of ${count(total)}`,
  combining: 'Combining the parts',
  partsDone: (done: number, total: number) => `${count(done)} of ${count(total)} parts done`,
  answered: (done: number, total: number) => `${count(done)} of ${count(total)} answered`,
  pagesOf: (first: number, last: number) =>
    first === last ? `page ${count(first)}` : `pages ${count(first)}–${count(last)}`,
  combineStep: 'combining the parts',
  partStates: { waiting: 'Waiting', running: 'Running', answered: 'Answered' },
  partsBar: (done: number, running: number, total: number) =>
    `${count(done)} of ${count(total)} parts answered, ${count(running)} running`,
  tokens: (input: string, output: string) => `${input} in, ${output} out`,
  tokensOf: (input: string, estimated: string, output: string) =>
    `${input} in (${estimated} estimated), ${output} out`,
  estimated: (tokens: string) => `${tokens} in, estimated`,
  showParts: (n: number) => `Show all ${count(n)} parts`,
};
