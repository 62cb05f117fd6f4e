/** Writing jobs and their results to one file. */
import { count } from './format';

const jobs = (n: number): string => `${count(n)} ${n === 1 ? 'job' : 'jobs'}`;

export const exportsEn = {
  title: 'Export',
  action: 'Export…',
  selection: (n: number) => `Export ${count(n)}…`,
  job: 'Export this job…',
  tip: (n: number) => `Export the ${jobs(n)} that match`,
  what: (n: number) => (n === 1 ? 'One job, with its result.' : `${jobs(n)}, with the results they have.`),
  format: 'Format',
  formats: { csv: 'CSV', jsonl: 'JSONL', markdown: 'Markdown' },
  notes: {
    csv: 'One row a job, fields as columns: for spreadsheets.',
    jsonl: 'One JSON object a line: for programs.',
    markdown: 'All summaries one after the other: for reading.',
  },
  mark: 'For Excel: begin with a byte order mark',
  markNote: 'Without it Excel garbles everything that is not plain English.',
  where: 'You choose the place next. Nothing leaves this computer.',
  run: (n: number) => `Export ${jobs(n)}`,
  busy: 'Exporting…',
  nothing: 'No job matches, so there is nothing to export.',
  done: (n: number, size: string) => `${jobs(n)} exported, ${size}`,
  withoutResult: (n: number) => `${count(n)} of them ${n === 1 ? 'has' : 'have'} no result yet.`,
  unreadable: (n: number) =>
    `${count(n)} ${n === 1 ? 'result' : 'results'} could not be read: ${n === 1 ? 'its row has' : 'their rows have'} no text.`,
  open: 'Open',
  nameAll: 'Jobs',
  nameSelection: 'Selected jobs',
};
