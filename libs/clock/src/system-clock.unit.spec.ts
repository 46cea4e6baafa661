import { describe, expect, it } from '@jest/globals';
import { systemClock } from './system-clock.js';

describe('systemClock', () => {
  it('tells the machine time', () => {
    const before = Date.now();
    expect(systemClock.now()).toBeGreaterThanOrEqual(before);
  });

  it('sleeps, and fires timers in order', async () => {
    const order: string[] = [];
    systemClock.setTimeout(() => order.push('second'), 5);
    systemClock.setTimeout(() => order.push('first'), 0);
    await systemClock.sleep(10);
    expect(order).toEqual(['first', 'second']);
  });

  it('cancels', async () => {
    let fired = false;
    systemClock.setTimeout(() => (fired = true), 0)();
    await systemClock.sleep(2);
    expect(fired).toBe(false);
  });

  it('rejects a sleep that is aborted, before and meanwhile, with the reason given', async () => {
    const reason = new Error('enough');
    await expect(systemClock.sleep(60_000, AbortSignal.abort(reason))).rejects.toBe(reason);
    const controller = new AbortController();
    const sleeping = systemClock.sleep(60_000, controller.signal);
    controller.abort(reason);
    await expect(sleeping).rejects.toBe(reason);
  });

  it('does not fire at once when the delay is longer than a timer of the runtime can hold', async () => {
    let fired = false;
    const cancel = systemClock.setTimeout(() => (fired = true), 40 * 24 * 3600_000);
    await systemClock.sleep(5);
    expect(fired).toBe(false);
    cancel();
  });
});
