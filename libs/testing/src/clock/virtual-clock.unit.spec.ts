import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { VirtualClock } from './virtual-clock.js';

describe('VirtualClock', () => {
  it('fires timers in order of time, equal ones in order of creation, at their own moment', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(50), { maxLength: 20 }), async (delays) => {
        const clock = new VirtualClock(0);
        const fired: [number, number][] = [];
        delays.forEach((ms, index) => clock.setTimeout(() => fired.push([clock.now(), index]), ms));
        await clock.advance(50);
        const expected = delays
          .map((ms, index) => [ms, index] as [number, number])
          .sort((a, b) => a[0] - b[0] || a[1] - b[1]);
        expect(fired).toEqual(expected);
        expect(clock.pending).toBe(0);
      }),
      { numRuns: 50 },
    );
  });

  it('runs code that awaits a timer before the next timer fires', async () => {
    const clock = new VirtualClock('2026-03-01T00:00:00Z');
    const seen: string[] = [];
    const loop = (async () => {
      for (let i = 0; i < 3; i++) {
        await clock.sleep(1_000);
        seen.push(new Date(clock.now()).toISOString().slice(17, 19));
      }
    })();
    await clock.advance(2_500);
    expect(seen).toEqual(['01', '02']);
    expect(clock.untilNext).toBe(500);
    expect(await clock.next()).toBe(true);
    await loop;
    expect(seen).toEqual(['01', '02', '03']);
    expect(await clock.next()).toBe(false);
  });

  it('cancels a timer and wakes whoever waits for one to be pending', async () => {
    const clock = new VirtualClock();
    const waiting = clock.whenPending(2);
    const cancel = clock.setTimeout(() => expect('never').toBe('fired'), 10);
    clock.setTimeout(() => undefined, 20);
    await waiting;
    cancel();
    await clock.advance(15);
    expect(clock.pending).toBe(1);
  });

  it('rejects a sleep with the reason of the abort and leaves no timer behind', async () => {
    const clock = new VirtualClock();
    const controller = new AbortController();
    const sleeping = clock.sleep(1_000, controller.signal);
    const reason = new Error('enough');
    controller.abort(reason);
    await expect(sleeping).rejects.toBe(reason);
    expect(clock.pending).toBe(0);
    await expect(clock.sleep(1, AbortSignal.abort(reason))).rejects.toBe(reason);
  });

  it('refuses to go back', async () => {
    const clock = new VirtualClock(1_000);
    await expect(clock.advance(-1)).rejects.toThrow(RangeError);
    expect(() => new VirtualClock('yesterday')).toThrow(/yesterday/);
  });
});
