/**
 * What the played scan finds. A path that ends in .pdf is a file, any other a folder: one with "empty" in its name
 * holds nothing, one with "troubles" something of every kind, one with "archive" ten thousand files.
 */
import type { Cause } from '../types/Cause';
import type { DocumentFacts } from '../types/DocumentFacts';
import type { ModelPrice } from '../types/ModelPrice';
import type { Notice } from '../types/Notice';
import type { Problem } from '../types/Problem';
import type { ScanReport } from '../types/ScanReport';
import type { ScannedFile } from '../types/ScannedFile';
import type { SkippedPath } from '../types/SkippedPath';
import type { SkipReason } from '../types/SkipReason';
import type { Submission } from '../types/Submission';
import type { SubmissionPlan } from '../types/SubmissionPlan';
import { costOf, inputOf } from './budget';
import { plainFacts, textOn } from './documents';
import { MAX_TOKENS, scatter } from './fixtures';
import { noticeOf } from './models';
import { fileName } from './names';

const LOCKED = 'This PDF needs a password.';
const FINDINGS: [Cause, string][] = [
  ['pdf-encrypted', LOCKED],
  ['pdf-encrypted', LOCKED],
  ['pdf-damaged', 'The cross-reference table is broken.'],
  ['too-many-pages', 'The document has 648 pages.'],
];
const PART_PAGES = 100;
/** The password of played files, and of those that have another one. */
const PASSWORD = 'sesame';
const OTHER_PASSWORD = 'open';

interface Found {
  name: string;
  pages?: number;
  finding?: [Cause, string];
  notices?: Notice[];
  facts?: Partial<DocumentFacts>;
}

/** One of every kind that gives trouble or is worth a word. */
const TROUBLES: Found[] = [
  { name: 'board-minutes_2025-Q4_signed.pdf', finding: ['pdf-encrypted', LOCKED] },
  { name: '取締役会議事録_2025年12月.pdf', finding: ['pdf-encrypted', LOCKED] },
  { name: 'payroll-summary_other-password.pdf', finding: ['pdf-encrypted', LOCKED] },
  {
    name: 'tender-dossier_part-2.pdf',
    finding: ['pdf-truncated', 'The end of this PDF is missing: it has 3.1 MB of about 12 MB.'],
  },
  {
    name: 'scan_0042.pdf',
    finding: ['pdf-damaged', 'This PDF is damaged: none of its pages can be found.'],
  },
  { name: 'invoice-portal.pdf', finding: ['not-a-pdf', 'This is a web page (HTML), not a PDF.'] },
  { name: 'IMG_2210.pdf', finding: ['not-a-pdf', 'This is a PNG image, not a PDF.'] },
  { name: 'draft-contract.pdf', finding: ['not-a-pdf', 'This is a Word document, not a PDF.'] },
  { name: 'untitled.pdf', finding: ['file-empty', 'This file is empty.'] },
  {
    name: 'rights-managed_report.pdf',
    finding: ['pdf-cipher-unknown', 'This PDF is encrypted with Adobe.APS, which can’t be opened here.'],
  },
  {
    name: 'zip-bomb_sample.pdf',
    finding: ['pdf-hostile', 'Reading this PDF took more than 256 MB of memory and was ended.'],
  },
  {
    name: 'satellite-atlas_full-resolution.pdf',
    finding: ['too-large', 'This PDF has 2.3 GB; 512 MB are read at most.'],
  },
  { name: 'handbook_complete-edition.pdf', pages: 612, notices: ['long'] },
  { name: 'annual-report_2025_all-volumes.pdf', pages: 420, notices: ['long', 'attachments'] },
  { name: '1987_field-notebook_scanned.pdf', pages: 48, notices: ['scanned'] },
  { name: 'archive-box-12_scanned.pdf', pages: 64, notices: ['scanned'] },
  { name: 'price-list_locked-against-printing.pdf', notices: ['decrypted'] },
  { name: 'thesis_old-export.pdf', notices: ['repaired', 'pages-uncertain'] },
  { name: 'newsletter_subset-fonts.pdf', notices: ['text-unreliable'] },
  { name: 'application-form_filled.pdf', pages: 6, notices: ['fields-unseen'] },
  { name: 'grid-study_2026.pdf' },
  { name: '送配電網_調査報告.pdf' },
];

const SKIPPED: [string, SkipReason, string?][] = [
  ['cover-letter.docx', 'other-kind'],
  ['figures/plot-03.png', 'other-kind'],
  ['.Trash/old.pdf', 'hidden'],
  ['backup/grid-study_2026.pdf', 'duplicate', 'grid-study_2026.pdf'],
  ['current', 'link-loop'],
  ['summaries/grid-study_2026.md', 'own-output'],
  ['printer.pdf', 'not-a-file'],
  ['incoming/video-archive.pdf', 'still-written'],
  ['locked/private.pdf', 'unreadable'],
];

function scanned(path: string, n: number, found: Omit<Found, 'name'>): ScannedFile {
  const { finding, notices = [] } = found;
  const unread = finding !== undefined && finding[0] !== 'too-many-pages';
  const pages = unread ? null : (found.pages ?? 8 + scatter(n, 40));
  const scan = notices.includes('scanned');
  return {
    path,
    name: path.split('/').at(-1) ?? path,
    relativePath: path.split('/').slice(-2).join('/'),
    modifiedMs: 1_770_000_000_000 - n * 86_400_000,
    document: {
      sha256: n.toString(16).padStart(64, '0'),
      bytes: 400_000 + scatter(n, 4_000_000),
      pages,
      encryption: finding?.[0] === 'pdf-encrypted' ? 'needs-password' : 'none',
      hasText: unread ? null : !scan,
      facts: plainFacts(pages, pages !== null && scan ? { text: textOn(0, pages) } : {}),
      finding: finding ? { cause: finding[0], message: finding[1] } : null,
    },
    notices,
  };
}

/** Whether a file has a result of the first template and the settings' model already. */
export function isReusable(file: ScannedFile, submission: Submission): boolean {
  const again = Number.parseInt(file.document.sha256, 16) % 31 === 7;
  const { fresh, provider, template } = submission;
  return again && !fresh && provider === 'claude' && template.startsWith('pdf-summarize');
}

const isGood = (file: ScannedFile): boolean => file.document.finding === null;
const partsOf = (file: ScannedFile): number =>
  file.notices.includes('long') ? Math.ceil((file.document.pages ?? 1) / PART_PAGES) : 1;

function sumOf(files: ScannedFile[], price: ModelPrice | null): { expected: number; atWorst: number } | null {
  if (!price) return null;
  const costs = files.map((file) => costOf({ pages: file.document.pages, maxTokens: MAX_TOKENS }, price));
  return {
    expected: costs.reduce((sum, cost) => sum + cost.expected, 0),
    atWorst: costs.reduce((sum, cost) => sum + cost.atWorst, 0),
  };
}

export function planOf(
  report: ScanReport,
  submission: Submission,
  price: ModelPrice | null,
  counted: number,
  model: string,
): SubmissionPlan {
  const good = report.files.filter(isGood);
  const asked = good.filter((file) => !isReusable(file, submission));
  const costs = sumOf(asked, price);
  const free = submission.provider === 'offline';
  const long = free ? [] : asked.filter((file) => file.notices.includes('long'));
  return {
    toRun: asked.length,
    reused: good.length - asked.length,
    toFail: 0,
    refused: [],
    inParts: long.length,
    calls: asked.length + long.reduce((sum, file) => sum + partsOf(file), 0),
    counted: free ? 0 : Math.min(counted, asked.length - long.length),
    inputTokens: free ? 0 : asked.reduce((sum, file) => sum + inputOf({ pages: file.document.pages }), 0),
    modelNotice: free ? null : noticeOf(model),
    estimates: counted > 0 ? CHECK : null,
    expectedMicros: free ? 0 : (costs?.expected ?? null),
    atWorstMicros: free ? 0 : (costs?.atWorst ?? null),
  };
}

/** How many files can be counted, of those that would be asked: those in one part. */
export function countable(report: ScanReport, submission: Submission): { countable: number; files: number } {
  const asked = report.files.filter((file) => isGood(file) && !isReusable(file, submission));
  return { countable: asked.filter((file) => partsOf(file) === 1).length, files: asked.length };
}

/** What the played provider counts. */
const CHECK = { calls: 40, countedPercent: 103, usuallyOffPercent: 6 };

function folder(path: string, files: ScannedFile[], skipped: SkippedPath[]): void {
  const skip = (name: string, reason: SkipReason, same?: string): void =>
    void skipped.push({
      path: `${path}/${name}`,
      reason,
      sameAs: same === undefined ? null : `${path}/${same}`,
    });
  if (path.includes('troubles')) {
    for (const { name, ...found } of TROUBLES) files.push(scanned(`${path}/${name}`, files.length, found));
    for (const each of SKIPPED) skip(...each);
    return;
  }
  const many = path.includes('archive') ? 10_000 : 128;
  for (let n = 0; n < many; n += 1) {
    const finding = n % 31 === 30 ? FINDINGS[Math.floor(n / 31) % FINDINGS.length] : undefined;
    files.push(
      scanned(`${path}/${fileName('soil', n + 40)}`, files.length, finding === undefined ? {} : { finding }),
    );
  }
  skip('cover-letter.docx', 'other-kind');
  skip('figures/plot-03.png', 'other-kind');
  skip('readme.txt', 'other-kind');
  skip('.Trash/old.pdf', 'hidden');
  skip('copy of biochar.pdf', 'duplicate', 'biochar.pdf');
  skip('backup/土壌炭素_控え.pdf', 'duplicate', '土壌炭素.pdf');
}

function totals(files: ScannedFile[], price: ModelPrice | null) {
  const good = files.filter(isGood);
  const costs = sumOf(good, price);
  return {
    pages: good.reduce((sum, file) => sum + (file.document.pages ?? 0), 0),
    expectedMicros: costs?.expected ?? null,
    atWorstMicros: costs?.atWorst ?? null,
  };
}

export function scanReport(scanId: number, paths: string[], price: ModelPrice | null): ScanReport {
  const files: ScannedFile[] = [];
  const skipped: SkippedPath[] = [];
  for (const path of paths) {
    if (path.includes('empty'))
      skipped.push({ path: `${path}/notes.docx`, reason: 'other-kind', sameAs: null });
    else if (path.endsWith('.pdf')) files.push(scanned(path, files.length, {}));
    else folder(path, files, skipped);
  }
  const first = paths[0]?.split('/').at(-1) ?? '';
  return { scanId, name: first.replace(/\.pdf$/, ''), files, skipped, ...totals(files, price) };
}

/** Tries a password on what needs one; throws where it opens nothing. */
export function unlocked(report: ScanReport, password: string, price: ModelPrice | null): ScanReport {
  const isLocked = (file: ScannedFile): boolean => file.document.finding?.cause === 'pdf-encrypted';
  const opens = (file: ScannedFile): boolean =>
    isLocked(file) && password === (file.name.includes('other') ? OTHER_PASSWORD : PASSWORD);
  if (!report.files.some(opens)) throw wrongPassword(report.files.filter(isLocked).length);
  const files = report.files.map((file, n): ScannedFile => {
    if (!opens(file)) return file;
    const pages = 8 + scatter(n, 40);
    const facts = plainFacts(pages, { cipher: 'AES-256' });
    return {
      ...file,
      notices: ['unlocked'],
      document: { ...file.document, pages, hasText: true, facts, finding: null },
    };
  });
  return { ...report, files, ...totals(files, price) };
}

export function wrongPassword(files: number): Problem {
  return {
    code: 'bad-input',
    message: `The password opens none of the ${files} files.`,
    hint: 'Check capital letters and the keyboard’s language.',
  };
}

/** Whether a played job's file opens with a password. */
export function opensJob(password: string): boolean {
  return password === PASSWORD;
}
