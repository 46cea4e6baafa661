import { describe, expect, it } from '@jest/globals';
import { Limiter } from './limiter.js';

describe('Limiter', () => {
  it('runs so many at once, the others in order, and goes on after failures', async () => {
    const limiter = new Limiter('reads', { running: 2, waiting: 10, patience_ms: 100, now: () => 0 });
    const begun: number[] = [];
    const tasks = Array.from({ length: 5 }, () => Promise.withResolvers<number>());
    const runs = tasks.map(({ promise }, i) =>
      limiter.run(() => {
        begun.push(i);
        return promise;
      }),
    );
    expect(begun).toEqual([0, 1]);
    tasks[1]!.reject(new Error('failed'));
    await expect(runs[1]).rejects.toThrow('failed');
    await Promise.resolve();
    expect(begun).toEqual([0, 1, 2]);
    for (const i of [0, 2, 3, 4]) tasks[i]!.resolve(i);
    expect(await Promise.all([0, 2, 3, 4].map((i) => runs[i]!))).toEqual([0, 2, 3, 4]);
    expect(begun).toEqual([0, 1, 2, 3, 4]);
    expect(await limiter.run(() => Promise.resolve('again'))).toBe('again');
  });

  it('refuses what is too much, and what waited for too long', async () => {
    let now = 0;
    const limiter = new Limiter('reads', { running: 1, waiting: 2, patience_ms: 100, now: () => now });
    const first = Promise.withResolvers<string>();
    const running = limiter.run(() => first.promise);
    const late = limiter.run(() => Promise.resolve('late'));
    now = 50;
    const intime = limiter.run(() => Promise.resolve('in time'));
    await expect(limiter.run(() => Promise.resolve('too many'))).rejects.toMatchObject({ code: 'unavailable' });
    now = 120;
    first.resolve('first');
    expect(await running).toBe('first');
    await expect(late).rejects.toMatchObject({ code: 'unavailable' });
    expect(await intime).toBe('in time');
    expect(await limiter.run(() => Promise.resolve('after'))).toBe('after');
  });
});
