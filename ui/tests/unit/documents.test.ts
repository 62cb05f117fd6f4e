/** What is known of PDFs, in words: groups of a drop, facts, parts, passwords. */
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { render, screen } from '@testing-library/svelte';
import { tick } from 'svelte';
import { App } from '../../src/app/app.svelte';
import { createBackend } from '../../src/backend/mock';
import type { Backend } from '../../src/backend/backend';
import { plainFacts, textOn } from '../../src/backend/mock/documents';
import { makeJob } from '../../src/backend/mock/fixtures';
import type { DocumentView } from '../../src/backend/types/DocumentView';
import type { JobDetail } from '../../src/backend/types/JobDetail';
import type { PartView } from '../../src/backend/types/PartView';
import type { Problem } from '../../src/backend/types/Problem';
import type { ScanReport } from '../../src/backend/types/ScanReport';
import { faultyFiles, faultyGroups, noticeGroups, sharedFolder, skippedGroups } from '../../src/add/found';
import { AddFlow } from '../../src/add/add.svelte';
import { documentFacts } from '../../src/detail/document-facts';
import PagePicture from '../../src/detail/PagePicture.svelte';
import Parts from '../../src/detail/Parts.svelte';
import { stepWords } from '../../src/detail/steps';
import { progressCell, rowName, statusNote } from '../../src/queue/cells';
import { speak } from '../../src/text/text.svelte';
import { UnlockForm } from '../../src/unlock/unlock.svelte';

const NOW = new Date(2026, 1, 12, 18, 42).getTime();
const backend = (query = 'freeze'): Backend => createBackend(new URLSearchParams(query));
const troubles = (of: Backend): Promise<ScanReport> => of.scan(['/home/mika/Grid troubles']);

beforeEach(() => speak('en'));

describe('what a scan found', () => {
  it('begins with what a password opens, then the largest group', async () => {
    const groups = faultyGroups(faultyFiles(await troubles(backend()), null), '');
    expect(groups.map((group) => group.id).slice(0, 3)).toEqual([
      'pdf-encrypted',
      'not-a-pdf',
      'pdf-truncated',
    ]);
    // Its fix is the field below; a second one in words would only be longer.
    expect(groups[0]?.note).toBe('The PDF is locked with a password and can’t be read without it.');
    expect(groups[1]?.note).toMatch(/something else\. Save or export/);
    expect(groups[1]?.entries[0]?.note).toBe('This is a web page (HTML), not a PDF.');
  });

  it('also holds files that can’t be sent as it is asked now, in the words of the plan', async () => {
    const of = backend();
    const report = await troubles(of);
    const plan = await of.planSubmission(report.scanId, {
      name: '',
      queue: 'bulk',
      delivery: null,
      template: 'meeting-minutes-v1',
      provider: 'claude',
      model: null,
      capMicros: null,
      paused: false,
      variables: {},
      fresh: false,
      pilot: null,
    });
    const message = 'Page 7 alone takes 41.2 MB; one call takes at most 22.0 MB of a PDF.';
    const refused = [{ path: '/atlas.pdf', finding: { cause: 'too-large' as const, message } }];
    const groups = faultyGroups(faultyFiles(report, { ...plan, refused }), '');
    const tooLarge = groups.find((group) => group.id === 'too-large');
    expect(tooLarge?.entries.at(-1)).toEqual({ path: '/atlas.pdf', shown: '/atlas.pdf', note: message });
  });

  it('lists a file under each of its notices, the dearest first', async () => {
    const groups = noticeGroups((await troubles(backend())).files, '');
    expect(groups[0]).toMatchObject({ id: 'long', name: 'Asked in parts' });
    const holders = groups.filter((group) =>
      group.entries.some(({ path }) => path.endsWith('annual-report_2025_all-volumes.pdf')),
    );
    expect(holders.map((group) => group.id)).toEqual(['long', 'attachments']);
  });

  it('says which file a duplicate is the same as, and leaves out the folder that all share', async () => {
    const report = await troubles(backend());
    const root = sharedFolder([...report.files, ...report.skipped].map((each) => each.path));
    expect(root).toBe('/home/mika/Grid troubles/');
    const duplicates = skippedGroups(report.skipped, root).find((group) => group.id === 'duplicate');
    expect(duplicates?.entries).toEqual([
      {
        path: '/home/mika/Grid troubles/backup/grid-study_2026.pdf',
        shown: 'backup/grid-study_2026.pdf',
        note: 'same as grid-study_2026.pdf',
      },
    ]);
    const twice = { path: '/a.pdf', reason: 'duplicate' as const, sameAs: '/a.pdf' };
    expect(skippedGroups([twice], '/')[0]?.entries[0]?.note).toBe('given twice');
  });

  it('finds the shared folder on every system, and none where there is none', () => {
    expect(sharedFolder(['/a/b/x.pdf', '/a/bc/y.pdf'])).toBe('/a/');
    expect(sharedFolder(['C:\\Papers\\x.pdf', 'C:\\Papers\\2025\\y.pdf'])).toBe('C:\\Papers\\');
    expect(sharedFolder(['C:\\x.pdf', 'D:\\y.pdf'])).toBe('');
    expect(sharedFolder(['/a/x.pdf'])).toBe('/a/');
    expect(sharedFolder([])).toBe('');
  });
});

describe('a password', () => {
  const wrong: Problem = { code: 'bad-input', message: 'The password opens none of the 2 files.', hint: '' };

  it('that opens something is not kept in the field', async () => {
    const form = new UnlockForm(async () => 2);
    form.type('sesame');
    await form.unlock();
    expect([form.text, form.opened, form.wrong, form.busy]).toEqual(['', 2, false, false]);
  });

  it('that opens nothing stays to be corrected, until it is typed over', async () => {
    const form = new UnlockForm(() => Promise.reject(wrong));
    form.type('sesam');
    await form.unlock();
    expect([form.text, form.wrong, form.problem]).toEqual(['sesam', true, null]);
    form.type('sesame');
    expect(form.wrong).toBe(false);
  });

  it('is tried once at a time, and what else goes wrong is said', async () => {
    const attempt = vi.fn(() => Promise.reject({ ...wrong, code: 'storage' } as Problem));
    const form = new UnlockForm(attempt);
    form.type('sesame');
    await Promise.all([form.unlock(), form.unlock()]);
    expect(attempt).toHaveBeenCalledOnce();
    expect([form.wrong, form.problem?.code]).toEqual([false, 'storage']);
  });

  it('opens files of the sheet; a sheet that was closed meanwhile stays closed', async () => {
    const flow = new AddFlow(backend());
    await flow.scan(['/home/mika/Grid troubles'], 'bulk');
    expect(await flow.unlock('sesame')).toBe(2);
    expect(flow.state.step === 'ready' && flow.state.report.files.filter(hasFinding)).toHaveLength(10);
    await expect(flow.unlock('sesame')).rejects.toMatchObject({ code: 'bad-input' });
    const late = flow.unlock('open');
    await flow.cancel();
    await late;
    expect(flow.state.step).toBe('closed');
  });
});

describe('a long document', () => {
  const job = (change: object) => makeJob('soil', 'a.pdf', 'running', NOW, { pages: 648, ...change });

  it('says which part is asked, and when they are combined', () => {
    const running = job({ parts: { done: 2, total: 7 } });
    const cell = progressCell(running, undefined, NOW);
    expect(cell.first).toBe('Part 3 of 7');
    expect(rowName(running, cell, 'Running')).toMatch(/648 pages, Running, Part 3 of 7/);
    const writing = { phase: 'writing' as const, outputTokens: 1024, maxTokens: 4096 };
    expect(progressCell(running, writing, NOW)).toMatchObject({ first: 'Part 3 of 7', bar: 0.25 });
    expect(progressCell(job({ parts: { done: 7, total: 7 } }), undefined, NOW).first).toBe(
      'Combining the parts',
    );
  });

  it('that waits says how far it is', () => {
    const waiting = { ...job({ parts: { done: 2, total: 7 } }), status: 'pending' as const, attempts: 2 };
    expect(statusNote(waiting, NOW)).toBe('2 of 7 parts done');
    expect(statusNote({ ...waiting, parts: { done: 0, total: 7 } }, NOW)).toBe('Attempt 2');
  });

  it('lists some of many parts, and all on demand', async () => {
    const parts = Array.from({ length: 40 }, (_, at): PartView => ({
      pages: { first: at * 100 + 1, last: at * 100 + 100 },
      state: at < 3 ? 'answered' : at === 3 ? 'running' : 'waiting',
      inputTokens: 200_000,
      outputTokens: 900,
      costMicros: at === 1 ? null : 613_500,
      review: at === 2 ? 'The answer stopped at its limit.' : null,
    }));
    render(Parts, { props: { parts } });
    expect(screen.getAllByRole('listitem')).toHaveLength(8);
    expect(screen.getByRole('img').getAttribute('aria-label')).toBe('3 of 40 parts answered, 1 running');
    expect(screen.getAllByRole('listitem')[1]?.textContent).toMatch(/pages 101–200.*unknown/);
    expect(screen.getAllByRole('listitem')[2]?.textContent).toMatch(/The answer stopped at its limit/);
    screen.getByText('Show all 40 parts').click();
    await tick();
    expect(screen.getAllByRole('listitem')).toHaveLength(40);
  });

  it('names what an attempt asked about', () => {
    expect(stepWords({ of: 'whole' })).toBe('');
    expect(stepWords({ of: 'part', pages: { first: 101, last: 200 } })).toBe('pages 101–200');
    expect(stepWords({ of: 'part', pages: { first: 7, last: 7 } })).toBe('page 7');
    expect(stepWords({ of: 'combine' })).toBe('combining the parts');
  });
});

describe('what is known of a document', () => {
  function facts(change: Partial<DocumentView>, job: Partial<JobDetail> = {}): Record<string, string> {
    const document: DocumentView = {
      sha256: 'ab',
      bytes: 2_412_331,
      pages: 24,
      encryption: 'none',
      hasText: true,
      facts: plainFacts(24),
      finding: null,
      ...change,
    };
    const detail: JobDetail = {
      job: makeJob('soil', 'a.pdf', 'completed', NOW),
      prompt: null,
      variables: {},
      document,
      sends: 'pdf',
      parts: [],
      remote: null,
      attempts: [],
      result: null,
      ...job,
    };
    return Object.fromEntries(documentFacts(detail).map(({ term, words }) => [term, words]));
  }

  it('is short for a plain one', () => {
    expect(facts({})).toEqual({
      Language: 'English',
      Text: 'on all 24 pages',
      Size: '2.4 MB',
      Sent: 'The PDF: text and pictures',
    });
  });

  it('tells scans, unreliable text and what was not looked at apart', () => {
    const text = (layer: ReturnType<typeof textOn> | null) =>
      facts({ facts: plainFacts(24, { text: layer }) }).Text;
    expect(text(textOn(0, 24))).toBe('none: scanned pages');
    expect(text(textOn(20, 24))).toBe('on 20 of 24 pages');
    expect(text(textOn(24, 24, { unknownPercent: 5 }))).toBe('on all 24 pages');
    expect(text(textOn(24, 24, { unknownPercent: 6 }))).toBe(
      'on all 24 pages, 6 % of its characters unknown',
    );
    expect(text(null)).toBeUndefined();
  });

  it('says what a copy lacks that was sent', () => {
    expect(facts({ facts: plainFacts(24, { annotationsLost: true }) })['Not sent']).toBe(
      'Comments, filled-in fields and layers: the copy lacks them',
    );
  });

  it('names the lock with its cipher', () => {
    const lock = (encryption: DocumentView['encryption'], cipher: string | null) =>
      facts({ encryption, facts: plainFacts(24, { cipher }) }).Lock;
    expect(lock('empty-password', 'RC4 40-bit')).toBe('RC4 40-bit, opens without a password');
    expect(lock('needs-password', 'AES-256')).toBe('AES-256, needs a password');
    expect(lock('unsupported', null)).toBe('Encrypted, can’t be opened here');
  });

  it('names languages in the language shown, and a code nobody knows by itself', () => {
    const language = (code: string) => Object.values(facts({ facts: plainFacts(24, { language: code }) }))[0];
    expect([language('ja'), language('zz'), language('not a code')]).toEqual([
      'Japanese',
      'zz',
      'not a code',
    ]);
    speak('ja');
    expect(language('ja')).toBe('日本語');
  });

  it('says what is sent only where something is', () => {
    expect(facts({}, { sends: 'text' }).Sent).toBe('Its text only');
    const offline = makeJob('soil', 'a.pdf', 'completed', NOW, { provider: 'offline' });
    expect(facts({}, { job: offline }).Sent).toBeUndefined();
  });
});

describe('the picture of the first page', () => {
  it('is drawn for the job that is looked at, not for those that were passed', async () => {
    const played = backend();
    const app = new App(played);
    const drawn = vi.spyOn(played, 'pagePicture');
    const [first, second] = ['a.pdf', 'b.pdf'].map((name) => makeJob('soil', name, 'completed', NOW));
    if (!first || !second) throw new Error('no jobs');
    drawn.mockResolvedValue('data:image/png;base64,AA==');
    const { rerender } = render(PagePicture, { props: { app, job: first } });
    await rerender({ job: second });
    expect((await screen.findByRole('img')).getAttribute('alt')).toBe('First page of b.pdf');
    expect(drawn.mock.calls).toEqual([[second.jobId, 1]]);
  });

  it('is a sign where a page can’t be drawn, and is not asked for while the file is locked', async () => {
    const played = backend();
    const app = new App(played);
    const drawn = vi.spyOn(played, 'pagePicture').mockRejectedValue(new Error('no'));
    const job = makeJob('soil', 'a.pdf', 'failed', NOW, { cause: 'pdf-encrypted' });
    const { rerender } = render(PagePicture, { props: { app, job } });
    await screen.findByRole('img', { name: 'No picture of the first page' });
    expect(drawn).not.toHaveBeenCalled();
    await rerender({ job: { ...job, cause: null } });
    await vi.waitFor(() => expect(drawn).toHaveBeenCalledOnce());
    await screen.findByRole('img', { name: 'No picture of the first page' });
  });
});

function hasFinding(file: ScanReport['files'][number]): boolean {
  return file.document.finding !== null;
}
