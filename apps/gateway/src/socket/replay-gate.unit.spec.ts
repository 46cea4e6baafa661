import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ReplayGate } from './replay-gate.js';

describe('ReplayGate', () => {
  it('WSP-20 runs no more than its slots at a time, in order of arrival, and frees the slots of failures', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.boolean(), { maxLength: 30 }),
        fc.scheduler(),
        async (slots, outcomes, scheduler) => {
          const gate = new ReplayGate(slots);
          const started: number[] = [];
          let running = 0;
          let most = 0;
          const reads = outcomes.map((fails, index) =>
            gate.run(async () => {
              started.push(index);
              most = Math.max(most, ++running);
              await scheduler.schedule(Promise.resolve(), `read ${index}`);
              running--;
              if (fails) throw new Error(`read ${index} fails`);
              return index;
            }),
          );
          const settled = Promise.allSettled(reads);
          await scheduler.waitFor(settled);
          expect(most).toBe(Math.min(slots, outcomes.length));
          expect(started).toEqual(outcomes.map((_, index) => index));
          expect((await settled).map(({ status }) => status)).toEqual(
            outcomes.map((fails) => (fails ? 'rejected' : 'fulfilled')),
          );
          await expect(gate.run(async () => 'free')).resolves.toBe('free');
        },
      ),
    );
  });
});
