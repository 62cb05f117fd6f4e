import { describe, expect, it, vi } from 'vitest';
import { EVERY_JOB, NO_CHANGES, type Backend } from '../../src/backend/backend';
import type { JobFilter } from '../../src/backend/types/JobFilter';
import type { JobPage } from '../../src/backend/types/JobPage';
import { makeJobs } from '../../src/backend/mock/fixtures';
import { PlayedEngine } from '../../src/backend/mock/engine';
import { overviewOf } from '../../src/backend/mock/overview';
import { retry } from '../../src/backend/mock/selections';
import { playedSettings } from '../../src/backend/mock/settings';
import { JobList } from '../../src/queue/jobs.svelte';

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
  const jobs = vi.fn(async (filter: JobFilter, after: number | null, limit: number): Promise<JobPage> =>
    engine.page(filter, after, limit),
  );
  return { engine, jobs, list: new JobList({ jobs } as unknown as Backend) };
}

describe('the list of jobs', () => {
  it('puts running jobs first and lists none twice', async () => {
    const { list } = played(798);
    await list.show(EVERY_JOB);
    expect(list.rows.slice(0, 6).every((row) => row.status === 'running')).toBe(true);
    expect(new Set(list.rows.map((row) => row.jobId)).size).toBe(list.rows.length);
    expect(list.total).toBe(798);
  });

  it('loads the next pages when the end comes in sight, up to the last row', async () => {
    const { list, jobs } = played(450);
    await list.show(EVERY_JOB);
    while (list.more) {
      const before = list.rows.length;
      list.see(before - 10, before - 1);
      await vi.waitFor(() => expect(list.rows.length).toBeGreaterThan(before));
    }
    expect(list.rows.length).toBe(450);
    const calls = jobs.mock.calls.length;
    list.see(440, 449);
    await Promise.resolve();
    expect(jobs.mock.calls.length).toBe(calls);
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
    const { list, jobs, engine } = played(798);
    let answerLate: (page: JobPage) => void = () => undefined;
    jobs.mockImplementationOnce(() => new Promise((resolve) => (answerLate = resolve)));
    const first = list.show({ ...EVERY_JOB, shown: 'done' });
    await list.show({ ...EVERY_JOB, shown: 'needs-review' });
    answerLate(engine.page({ ...EVERY_JOB, shown: 'done' }, null, 100));
    await first;
    expect(list.rows.every((row) => row.status === 'needs-review')).toBe(true);
  });

  it('says what happened when it cannot be read', async () => {
    const { list, jobs } = played(20);
    jobs.mockRejectedValue({
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
