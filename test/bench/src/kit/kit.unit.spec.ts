import { describe, expect, it } from '@jest/globals';
import { inTurns, ratioOf } from './rounds.js';
import { median, percentile, rounded } from './stats.js';
import { reached, table } from './table.js';

describe('statistics', () => {
  it('takes percentiles by nearest rank and medians between two values', () => {
    const values = [5, 1, 4, 2, 3];
    expect([percentile(values, 0), percentile(values, 0.5), percentile(values, 0.99)]).toEqual([1, 3, 5]);
    expect([median(values), median([4, 1, 3, 2])]).toEqual([3, 2.5]);
    expect(values).toEqual([5, 1, 4, 2, 3]);
    expect(rounded(2 / 3)).toBe(0.667);
  });

  it('refuses to summarise nothing', () => {
    expect(() => median([])).toThrow(RangeError);
    expect(() => percentile([], 0.5)).toThrow(RangeError);
  });
});

describe('rounds', () => {
  it('turns the order from round to round and leaves the first one out', async () => {
    const calls: string[] = [];
    const measure = (name: string) => (): Promise<number> => Promise.resolve(calls.push(name));
    const samples = await inTurns(2, { a: measure('a'), b: measure('b') });
    expect(calls).toEqual(['a', 'b', 'a', 'b', 'b', 'a']);
    expect(samples).toEqual({ a: [3, 6], b: [4, 5] });
  });

  it('compares within each round, so that a slow one counts no more than any other', () => {
    expect(ratioOf([10, 1, 12], [20, 2, 20])).toBe(0.5);
  });
});

describe('table', () => {
  it('says whether each goal was reached', () => {
    const lines = table([
      { what: 'rate', value: '10/s', against: '20/s', ratio: 0.5, goal: { least: 0.6 } },
      { what: 'time', value: '1 ms', ratio: 1, goal: { most: 2 } },
    ]).split('\n');
    expect(lines[1]).toMatch(/^rate .* 10\/s .* 20\/s .* 0\.50 .* >= 0\.6 .* ?MISSED$/);
    expect(lines[2]).toMatch(/1\.00 .* <= 2 .* ?ok$/);
    expect([reached(2, { most: 2 }), reached(0.5, { least: 0.6, most: 1 })]).toEqual([true, false]);
  });
});
