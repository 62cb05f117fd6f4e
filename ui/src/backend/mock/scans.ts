/** What the played scan finds: mostly good PDFs, and one of each kind that gives trouble. */
import type { Cause } from '../types/Cause';
import type { ModelPrice } from '../types/ModelPrice';
import type { ScanReport } from '../types/ScanReport';
import type { ScannedFile } from '../types/ScannedFile';
import type { Submission } from '../types/Submission';
import type { SubmissionPlan } from '../types/SubmissionPlan';
import { costOf } from './budget';
import { MAX_TOKENS, scatter } from './fixtures';
import { fileName } from './names';

const FINDINGS: [Cause, string][] = [
  ['pdf-encrypted', 'The document needs a password.'],
  ['pdf-encrypted', 'The document needs a password.'],
  ['pdf-damaged', 'The cross-reference table is broken.'],
  ['too-many-pages', 'The document has 648 pages.'],
];

function scanned(path: string, n: number, finding: [Cause, string] | undefined): ScannedFile {
  return {
    path,
    name: path.split('/').at(-1) ?? path,
    relativePath: path.split('/').slice(-2).join('/'),
    modifiedMs: 1_770_000_000_000 - n * 86_400_000,
    document: {
      sha256: n.toString(16).padStart(64, '0'),
      bytes: 400_000 + scatter(n, 4_000_000),
      pages: finding?.[0] === 'pdf-damaged' ? null : 8 + scatter(n, 40),
      encryption: finding?.[0] === 'pdf-encrypted' ? 'needs-password' : 'none',
      hasText: true,
      finding: finding ? { cause: finding[0], message: finding[1] } : null,
    },
  };
}

/** Whether a file has a result of the first template and the settings' model already. */
export function isReusable(file: ScannedFile, submission: Submission): boolean {
  const again = Number.parseInt(file.document.sha256, 16) % 31 === 7;
  const { fresh, provider, template } = submission;
  return again && !fresh && provider === 'claude' && template.startsWith('pdf-summarize');
}

export function planOf(report: ScanReport, submission: Submission, price: ModelPrice | null): SubmissionPlan {
  const good = report.files.filter((file) => file.document.finding === null);
  const asked = good.filter((file) => !isReusable(file, submission));
  const costs =
    price && asked.map((file) => costOf({ pages: file.document.pages, maxTokens: MAX_TOKENS }, price));
  const free = submission.provider === 'offline';
  return {
    toRun: asked.length,
    reused: good.length - asked.length,
    toFail: 0,
    expectedMicros: free ? 0 : costs && costs.reduce((sum, cost) => sum + cost.expected, 0),
    atWorstMicros: free ? 0 : costs && costs.reduce((sum, cost) => sum + cost.atWorst, 0),
  };
}

/** Paths that end in .pdf are files; any other is a folder with many. A path with "empty" in it holds nothing. */
export function scanReport(scanId: number, paths: string[], price: ModelPrice | null): ScanReport {
  const files: ScannedFile[] = [];
  const skipped: ScanReport['skipped'] = [];
  for (const path of paths) {
    if (path.includes('empty')) {
      skipped.push({ path: `${path}/notes.docx`, reason: 'other-kind' });
    } else if (path.endsWith('.pdf')) {
      files.push(scanned(path, files.length, undefined));
    } else {
      for (let n = 0; n < 128; n += 1) {
        const finding = n % 31 === 30 ? FINDINGS[Math.floor(n / 31)] : undefined;
        files.push(scanned(`${path}/${fileName('soil', n + 40)}`, files.length, finding));
      }
      skipped.push(
        { path: `${path}/cover-letter.docx`, reason: 'other-kind' },
        { path: `${path}/figures/plot-03.png`, reason: 'other-kind' },
        { path: `${path}/readme.txt`, reason: 'other-kind' },
        { path: `${path}/.Trash/old.pdf`, reason: 'hidden' },
        { path: `${path}/copy of biochar.pdf`, reason: 'duplicate' },
        { path: `${path}/backup/土壌炭素_控え.pdf`, reason: 'duplicate' },
      );
    }
  }
  const good = files.filter((file) => file.document.finding === null);
  const pages = good.reduce((sum, file) => sum + (file.document.pages ?? 0), 0);
  const costs =
    price && good.map((file) => costOf({ pages: file.document.pages, maxTokens: MAX_TOKENS }, price));
  const first = paths[0]?.split('/').at(-1) ?? '';
  return {
    scanId,
    name: first.replace(/\.pdf$/, ''),
    files,
    skipped,
    pages,
    expectedMicros: costs && costs.reduce((sum, cost) => sum + cost.expected, 0),
    atWorstMicros: costs && costs.reduce((sum, cost) => sum + cost.atWorst, 0),
  };
}
