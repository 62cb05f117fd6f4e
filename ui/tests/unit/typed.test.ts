import { describe, expect, it } from 'vitest';
import { moneyText, readMoney } from '../../src/text/money-text';
import { readSeconds, readTime, readWhole, timeText } from '../../src/text/numbers';
import { readRates } from '../../src/settings/rates';

describe('what is typed', () => {
  it.each([
    ['40', 40_000_000],
    ['$1,234.50', 1_234_500_000],
    ['.5', 500_000],
    ['0.000001', 1],
  ])('%s is money', (text, micros) => {
    expect(readMoney(text)).toBe(micros);
  });

  it.each(['', 'ten', '-3', '0', '1,23', '1.2345678', '12.50 EUR', '1e3'])('%o is none', (text) => {
    expect(readMoney(text)).toBeNull();
  });

  it('is shown as it can be typed again', () => {
    for (const micros of [40_000_000, 12_500_000, 1, 2_345_678]) {
      expect(readMoney(moneyText(micros))).toBe(micros);
    }
    expect(moneyText(null)).toBe('');
  });

  it('is a whole number, with or without separators', () => {
    expect(['400,000', '0', '12'].map(readWhole)).toEqual([400_000, 0, 12]);
    expect(['', '1.5', '-1', 'many', ',5'].map(readWhole)).toEqual([null, null, null, null, null]);
  });

  it('is a time of day', () => {
    expect(['22:00', '7:30', '00:00'].map(readTime)).toEqual([1320, 450, 0]);
    expect(['24:00', '7', '7:60', ''].map(readTime)).toEqual([null, null, null, null]);
    expect(timeText(450)).toBe('07:30');
  });

  it('is a number of seconds', () => {
    expect(['0', '2.5', '86400'].map(readSeconds)).toEqual([0, 2500, 86_400_000]);
    expect(['', '-1', '1:00'].map(readSeconds)).toEqual([null, null, null]);
  });

  it('is a price, which may be nothing', () => {
    const rates = { input: '3', output: '15.00', cacheWrite: '0', cacheRead: '0.30' };
    expect(readRates(rates)).toEqual({
      input: 3_000_000,
      output: 15_000_000,
      cacheWrite: 0,
      cacheRead: 300_000,
    });
    expect(readRates({ ...rates, output: 'much' })).toBeNull();
  });
});
