import { describe, expect, it, vi } from 'vitest';
import { EVERY_JOB, NO_CHANGES, type Backend } from '../../src/backend/backend';
import type { JobFilter } from '../../src/backend/types/JobFilter';
import type { JobOrder } from '../../src/backend/types/JobOrder';
import type { JobRows } from '../../src/backend/types/JobRows';
import type { Submission } from '../../src/backend/types/Submission';
import { makeJobs } from '../../src/backend/mock/fixtures';
import { PlayedEngine } from '../../src/backend/mock/engine';
import { overviewOf } from '../../src/backend/mock/overview';
import { applyAction, moveJobs, retry } from '../../src/backend/mock/selections';
import { playedSettings } from '../../src/backend/mock/settings';
import { JobList } from '../../src/queue/jobs.svelte';

const SUBMISSION = {
  name: 'More',
  queue: 'bulk',
  template: 'pdf-summarize-v1',
  provider: 'offline',
  model: null,
  capMicros: null,
  paused: false,
} as Submission;

function played(size: number) {
  const engine = new PlayedEngine({
    size,
    key: { source: 'keychain', ending: '7Q2f', keychainProblem: null },
    consumer: 'here',
    circuit: null,
    paused: [],
    settings: playedSettings(new URLSearchParams()),
    storageProblem: null,
  });
  const jobRows = vi.fn(async (filter: JobFilter, order: JobOrder, offset: number, limit: number) =>
    engine.rows(filter, order, offset, limit),
  );
  const jobIds = vi.fn(async (filter: JobFilter, order: JobOrder, offset: number, limit: number) =>
    engine
      .ordered(filter, order)
      .slice(offset, offset + limit)
      .map((job) => job.jobId),
  );
  const list = new JobList({ jobRows, jobIds } as unknown as Backend);
  return { engine, jobRows, list };
}

describe('the list of jobs', () => {
  it('puts running jobs first and lists none twice', async () => {
    const { list } = played(798);
    await list.show(EVERY_JOB);
    expect(list.rows.slice(0, 6).every((row) => row.status === 'running')).toBe(true);
    expect(new Set(list.rows.map((row) => row.jobId)).size).toBe(list.rows.length);
    expect(list.total).toBe(798);
  });

  it('holds only the rows around what is in sight, wherever that is', async () => {
    const { list } = played(100_000);
    await list.show(EVERY_JOB);
    expect(list.total).toBe(100_000);
    for (const first of [40_000, 99_980, 7, 60_000]) {
      list.see(first, first + 15);
      await vi.waitFor(() => expect(list.at(first + 15)).toBeDefined());
      expect(list.at(first)).toBeDefined();
      expect(list.rows.length, 'rows that are held').toBeLessThan(400);
    }
  });

  it('asks for nothing while the eye moves within what is held', async () => {
    const { list, jobRows } = played(450);
    await list.show(EVERY_JOB);
    const calls = jobRows.mock.calls.length;
    list.see(10, 25);
    list.see(30, 45);
    await Promise.resolve();
    expect(jobRows.mock.calls.length).toBe(calls);
  });

  it('selects a range over rows that were never shown', async () => {
    const { engine, list } = played(5_000);
    await list.show(EVERY_JOB);
    const ids = engine.ordered(EVERY_JOB, list.order).map((job) => job.jobId);
    list.focus(ids[10] ?? '');
    const last = await list.reach(3_009);
    list.focus(last?.jobId ?? '', true);
    await vi.waitFor(() => expect(list.selectedCount).toBe(3_000));
    const { chosen } = list;
    expect(chosen.select === 'jobs' && [...chosen.jobIds].sort()).toEqual(ids.slice(10, 3_010).sort());
    expect(list.selectionIsHeld, 'most of them were never seen').toBe(false);
  });

  it('takes one out of everything', async () => {
    const { list } = played(900);
    await list.show(EVERY_JOB);
    list.selectEverything();
    const out = list.rows[3]?.jobId ?? '';
    list.toggle(out);
    await vi.waitFor(() => expect(list.selectedCount).toBe(899));
    expect(list.isSelected(out)).toBe(false);
  });

  it('keeps focus and selection of a row that leaves what is held', async () => {
    const { list } = played(5_000);
    await list.show(EVERY_JOB);
    const job = list.rows[5];
    if (!job) throw new Error('no sixth job');
    list.focus(job.jobId);
    list.see(4_000, 4_015);
    await vi.waitFor(() => expect(list.at(4_000)).toBeDefined());
    expect(list.focusedIndex).toBe(5);
    expect(list.selectedCount).toBe(1);
    expect((await list.step(1))?.jobId).toBe(list.at(6)?.jobId);
  });

  it('lets go of a selected job that is not listed any more', async () => {
    const { engine, list } = played(60);
    await list.show({ ...EVERY_JOB, shown: 'waiting' });
    const [first, second] = list.rows;
    if (!first || !second) throw new Error('two jobs wait');
    list.focus(first.jobId);
    list.focus(second.jobId, true);
    applyAction(engine, { select: 'jobs', jobIds: [first.jobId] }, { action: 'cancel' });
    list.refresh();
    await vi.waitFor(() => expect(list.selectedCount).toBe(1));
    expect(list.isSelected(second.jobId)).toBe(true);
  });

  it('stays where it is read when jobs come in above', async () => {
    const { engine, list } = played(2_000);
    await list.show(EVERY_JOB);
    list.see(500, 515);
    await vi.waitFor(() => expect(list.at(515)).toBeDefined());
    const read = list.at(500)?.jobId;
    const titles = ['a', 'b', 'c'].map((title) => ({ title, path: `/${title}.pdf`, pages: 3 }));
    engine.submit(titles, SUBMISSION);
    list.refresh();
    await vi.waitFor(() => expect(list.total).toBe(2_003));
    expect(list.pushed).toBe(3);
    expect(list.at(503)?.jobId).toBe(read);
  });

  it('lists what waits in the order of its turn', async () => {
    const { engine, list } = played(200);
    await list.show({ ...EVERY_JOB, shown: 'waiting' }, { by: 'line', descending: false });
    const lanes = list.rows.map((row) => row.queue);
    expect(lanes).toEqual([...lanes].sort((one, other) => (one === other ? 0 : one === 'high' ? -1 : 1)));
    const bulk = list.rows.filter((row) => row.queue === 'bulk').map((row) => row.jobId);
    const [first = '', , third = '', last = ''] = [bulk[0], bulk[1], bulk[2], bulk.at(-1)];
    expect(moveJobs(engine, [last, third], { place: 'before', jobId: first })).toBe(2);
    await list.show({ ...EVERY_JOB, shown: 'waiting' }, { by: 'line', descending: false });
    const moved = list.rows.filter((row) => row.queue === 'bulk').map((row) => row.jobId);
    expect(moved.slice(0, 3), 'in their order among them').toEqual([third, last, first]);
  });

  it('keeps the selection when rows change', async () => {
    const { engine, list } = played(20);
    await list.show(EVERY_JOB);
    const job = list.rows.find((row) => row.status === 'needs-review');
    if (!job) throw new Error('no job to review');
    list.focus(job.jobId);
    retry(engine, { select: 'jobs', jobIds: [job.jobId] }, NO_CHANGES);
    list.refresh();
    await vi.waitFor(() => expect(list.rows.find((row) => row.jobId === job.jobId)?.status).toBe('pending'));
    expect(list.selection.map((row) => row.jobId)).toEqual([job.jobId]);
  });

  it('extends a selection from where it began', async () => {
    const { list } = played(20);
    await list.show(EVERY_JOB);
    const ids = list.rows.map((row) => row.jobId);
    list.focus(ids[4] ?? '');
    list.focus(ids[6] ?? '', true);
    expect(list.selection.map((row) => row.jobId)).toEqual(ids.slice(4, 7));
    list.focus(ids[2] ?? '', true);
    expect(list.selection.map((row) => row.jobId)).toEqual(ids.slice(2, 5));
  });

  it('drops the answer to a question that is not asked any more', async () => {
    const { list, jobRows, engine } = played(798);
    let answerLate: (rows: JobRows) => void = () => undefined;
    jobRows.mockImplementationOnce(() => new Promise((resolve) => (answerLate = resolve)));
    const first = list.show({ ...EVERY_JOB, shown: 'done' });
    await list.show({ ...EVERY_JOB, shown: 'needs-review' });
    answerLate(engine.rows({ ...EVERY_JOB, shown: 'done' }, list.order, 0, 100));
    await first;
    expect(list.rows.every((row) => row.status === 'needs-review')).toBe(true);
  });

  it('says what happened when it cannot be read', async () => {
    const { list, jobRows } = played(20);
    jobRows.mockRejectedValue({
      code: 'storage',
      message: 'The database is locked.',
      hint: 'Close the other program.',
    });
    await list.show(EVERY_JOB);
    expect(list.problem?.code).toBe('storage');
    expect(list.loading).toBe(false);
  });
});

describe('the played queue', () => {
  it('has the counts of the design', () => {
    const counts = overviewOf(played(798).engine).counts;
    expect(counts).toEqual({
      total: 798,
      waiting: 423,
      running: 6,
      done: 333,
      needsReview: 13,
      deadLetters: 23,
      cancelled: 0,
    });
    expect(makeJobs(0, 100_000).length).toBe(100_000);
  });
});
