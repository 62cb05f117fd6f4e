import { afterEach, describe, expect, it, vi } from 'vitest';
import * as format from '../../src/text/format';
import { formatLocale, systemLanguage } from '../../src/text/locale';
import { en } from '../../src/text/en';
import { ja } from '../../src/text/ja';

afterEach(() => {
  vi.unstubAllGlobals();
  format.useLocaleOf('en');
});

describe('numbers', () => {
  it('are exact while short, and short when long', () => {
    expect([640, 9_999, 36_412, 99_960, 171_400, 23_812_000].map(format.shortTokens)).toEqual([
      '640',
      '9,999',
      '36.4k',
      '100k',
      '171k',
      '23.8M',
    ]);
  });

  it('never show money as nothing when it is something', () => {
    expect(format.money(0)).toBe('$0.00');
    expect(format.money(1_200)).toBe('<$0.01');
    expect(format.money(78_400)).toBe('$0.08');
    expect(format.exactMoney(78_400)).toBe('$0.0784');
  });

  it('write durations in minutes, then in hours', () => {
    expect(format.duration(42_000, en.app.hoursMinutes)).toBe('0:42');
    expect(format.duration(1_870_000, en.app.hoursMinutes)).toBe('31:10');
    expect(format.duration(12_780_000, en.app.hoursMinutes)).toBe('3 h 33 min');
    expect(format.duration(12_780_000, ja.app.hoursMinutes)).toBe('3 時間 33 分');
    expect(format.duration(-5, en.app.hoursMinutes)).toBe('0:00');
  });

  it('count down to zero and not past it', () => {
    expect(format.countdown(41_100, en.app.hoursMinutes)).toBe('0:42');
    expect(format.countdown(-900, en.app.hoursMinutes)).toBe('0:00');
  });

  it('use the money of the dollar in Japanese too', () => {
    format.useLocaleOf('ja');
    expect(format.money(78_400)).toBe('$0.08');
  });
});

describe('a system without a locale', () => {
  it.each(['C', 'C.UTF-8', 'POSIX', ''])('calls itself %s and gets English', (locale) => {
    vi.stubGlobal('navigator', { language: locale, languages: [locale] });
    expect(systemLanguage()).toBe('en');
    expect(formatLocale('en')).toBe('en-US');
    expect(() => format.useLocaleOf('en')).not.toThrow();
  });

  it('speaks the first language that the window knows', () => {
    vi.stubGlobal('navigator', { language: 'de-DE', languages: ['de-DE', 'ja-JP', 'en-GB'] });
    expect(systemLanguage()).toBe('ja');
    expect(formatLocale('en')).toBe('en-GB');
  });
});
