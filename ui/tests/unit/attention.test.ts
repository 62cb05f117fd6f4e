import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isAttended, watchAttention } from '../../src/app/attention';
import { coalesce } from '../../src/app/coalesce';

let end: () => void;
const root = document.documentElement;

beforeEach(() => {
  vi.useFakeTimers();
  end = watchAttention();
});
afterEach(() => {
  end();
  vi.useRealTimers();
});

describe('a window that is behind another one', () => {
  it('stops its animation until it is looked at again', () => {
    expect(root.hasAttribute('data-still'), 'a window that was just opened moves').toBe(false);
    window.dispatchEvent(new Event('blur'));
    expect([isAttended(), root.hasAttribute('data-still')], 'nothing turns behind another window').toEqual([
      false,
      true,
    ]);
    window.dispatchEvent(new Event('focus'));
    expect([isAttended(), root.hasAttribute('data-still')], 'it moves again when it is back').toEqual([
      true,
      false,
    ]);
  });

  it('refreshes once a second', async () => {
    let runs = 0;
    const refresh = coalesce(() => {
      runs += 1;
      return Promise.resolve();
    });
    window.dispatchEvent(new Event('blur'));
    refresh();
    await vi.advanceTimersByTimeAsync(10);
    refresh();
    await vi.advanceTimersByTimeAsync(700);
    expect(runs, 'the second refresh waits for its second').toBe(1);
    await vi.advanceTimersByTimeAsync(400);
    expect(runs, 'no refresh is lost').toBe(2);
  });
});
