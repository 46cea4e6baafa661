import { describe, expect, it } from '@jest/globals';
import { ReadAhead } from './read-ahead.js';

describe('ReadAhead', () => {
  it('gives a page once, to whoever asks for that position', async () => {
    const ahead = new ReadAhead<string>();
    ahead.put('s', 7, () => Promise.resolve('page'));
    expect(ahead.take('s', 8)).toBeUndefined();
    expect(ahead.take('t', 7)).toBeUndefined();
    await expect(ahead.take('s', 7)).resolves.toBe('page');
    expect(ahead.take('s', 7)).toBeUndefined();
  });

  it('answers a page that could not be fetched with nothing', async () => {
    const ahead = new ReadAhead<string>();
    ahead.put('s', 7, () => Promise.reject(new Error('away')));
    await expect(ahead.take('s', 7)).resolves.toBeUndefined();
  });

  it('fetches for a bounded number of sessions, the newest position of each', async () => {
    const ahead = new ReadAhead<number>();
    let fetched = 0;
    for (let i = 0; i < 40; i++) ahead.put(`s${i}`, 1, () => Promise.resolve(++fetched));
    expect(fetched).toBe(16);
    ahead.put('s0', 2, () => Promise.resolve(0));
    expect(ahead.take('s0', 1)).toBeUndefined();
    await expect(ahead.take('s0', 2)).resolves.toBe(0);
  });
});
