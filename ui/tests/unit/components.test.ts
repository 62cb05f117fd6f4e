import { render, screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { toProblem } from '../../src/backend/backend';
import { pathsIn } from '../../src/app/keys';
import { Toasts } from '../../src/app/toasts.svelte';
import Confirm from '../../src/components/Confirm.svelte';
import { ICON_NAMES } from '../../src/components/icons';
import Segments from '../../src/components/Segments.svelte';
import ToastList from '../../src/components/Toasts.svelte';
import { makeJobs } from '../../src/backend/mock/fixtures';
import JobRow from '../../src/queue/JobRow.svelte';
import { speak } from '../../src/text/text.svelte';

beforeEach(() => speak('en'));

describe('a job row', () => {
  const props = (index: number) => {
    const job = makeJobs(Date.now(), 798).at(index);
    if (!job) throw new Error('no such job');
    const onrunnow = vi.fn();
    return {
      job,
      index: 0,
      progress: undefined,
      selected: false,
      reachable: true,
      onchoose: vi.fn(),
      onpress: vi.fn(),
      onopen: vi.fn(),
      onrunnow,
      onmenu: vi.fn(),
    };
  };

  it('says file, status, progress and cost', () => {
    render(JobRow, { props: props(-7) });
    expect(screen.getByRole('row').getAttribute('aria-label')).toMatch(
      /^biochar_field-trials_meta-analysis\.pdf, 36 pages, Done, 1,043 tokens written, Finished .*, \$0\.08$/,
    );
  });

  it('offers to run a retrying job now', async () => {
    const given = props(-9);
    render(JobRow, { props: given });
    await userEvent.click(screen.getByText('Run now'));
    expect(given.onrunnow).toHaveBeenCalledOnce();
  });

  it('follows the language at once', async () => {
    render(JobRow, { props: props(-7) });
    speak('ja');
    expect(await screen.findByText('完了')).toBeTruthy();
  });
});

describe('a toast', () => {
  it('shows what happened and what to do', async () => {
    const toasts = new Toasts();
    render(ToastList, { props: { toasts } });
    const worked = await toasts.attempt(() =>
      Promise.reject({ code: 'storage', message: 'The disk is full.', hint: 'Free some space.' }),
    );
    expect(worked).toBe(false);
    expect(await screen.findByText('The disk is full.')).toBeTruthy();
    expect(screen.getByText('Free some space.')).toBeTruthy();
  });

  it('speaks Japanese and keeps the engine’s words as detail', async () => {
    speak('ja');
    const toasts = new Toasts();
    render(ToastList, { props: { toasts } });
    toasts.problem({ code: 'storage', message: 'The disk is full.', hint: 'Free some space.' });
    expect(await screen.findByText('ディスクの読み書きに失敗しました')).toBeTruthy();
    expect(screen.getByText('The disk is full.')).toBeTruthy();
  });
});

describe('a problem', () => {
  it('is made of anything that was thrown', () => {
    expect(toProblem({ code: 'conflict', message: 'a', hint: 'b' })).toEqual({
      code: 'conflict',
      message: 'a',
      hint: 'b',
    });
    expect(toProblem(new Error('broken'))).toEqual({ code: 'internal', message: 'broken', hint: '' });
    expect(toProblem('text')).toEqual({ code: 'internal', message: 'text', hint: '' });
  });
});

describe('segments', () => {
  it('move with the arrow keys', async () => {
    const onchange = vi.fn();
    const options = [
      { value: 'high', label: 'High' },
      { value: 'bulk', label: 'Bulk' },
    ];
    render(Segments, { props: { label: 'Lane', value: 'high', options, onchange } });
    screen.getByRole('radio', { name: 'High' }).focus();
    await userEvent.keyboard('{ArrowRight}');
    expect(onchange).toHaveBeenCalledWith('bulk');
  });
});

describe('a question', () => {
  it('is answered by its button', async () => {
    const onconfirm = vi.fn();
    render(Confirm, {
      props: {
        title: 'Sure?',
        note: 'It is lost.',
        confirm: 'Lose it',
        cancel: 'Keep it',
        onconfirm,
        oncancel: vi.fn(),
      },
    });
    await userEvent.click(screen.getByText('Lose it'));
    expect(onconfirm).toHaveBeenCalledOnce();
  });
});

describe('pasted paths', () => {
  it('are found one a line, quoted or as addresses', () => {
    expect(pathsIn('/a/b.pdf\n"C:\\c d.pdf"\nfile:///e%20f.pdf\nsome text\n')).toEqual([
      '/a/b.pdf',
      'C:\\c d.pdf',
      '/e f.pdf',
    ]);
  });
});

describe('the icons', () => {
  it('are all drawn', () => {
    const sprite = readFileSync(path.resolve(__dirname, '../../src/components/IconSprite.svelte'), 'utf8');
    expect(sprite.match(/(?<=id="i-)[a-z]+/g)).toEqual([...ICON_NAMES]);
  });
});
