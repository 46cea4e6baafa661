import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { WorkQueue } from './work-queue.js';

describe('WorkQueue', () => {
  it('never runs more than its concurrency, drops nothing it took, refuses beyond its limit', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 0, max: 5 }),
        fc.integer({ min: 0, max: 20 }),
        async (concurrency, limit, offered) => {
          const queue = new WorkQueue(concurrency, limit);
          let running = 0;
          let most = 0;
          const done: number[] = [];
          const taken: number[] = [];
          for (let index = 0; index < offered; index++) {
            const accepted = queue.offer(async () => {
              most = Math.max(most, ++running);
              await new Promise((resolve) => setImmediate(resolve));
              running--;
              done.push(index);
            });
            if (accepted) taken.push(index);
          }
          await queue.idle();
          expect(most).toBeLessThanOrEqual(concurrency);
          expect(done).toEqual(taken);
          expect(taken).toHaveLength(Math.min(offered, concurrency + limit));
        },
      ),
      { numRuns: 50 },
    );
  });

  it('is idle at once when nothing was offered', async () => {
    await expect(new WorkQueue(1, 1).idle()).resolves.toBeUndefined();
  });
});
