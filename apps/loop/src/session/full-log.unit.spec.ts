import { afterEach, describe, expect, it } from '@jest/globals';
import { VirtualClock } from '@longrein/testing';
import { violations } from '../testing/invariants.js';
import { memoryFixture } from '../testing/memory-deployment.js';
import { ScriptedModel } from '../testing/scripted-model.js';

let loop: ReturnType<typeof memoryFixture>;

afterEach(() => loop.stop());

describe('a log that is full', () => {
  it('is asked again at growing delays, seconds apart, and the turn goes on once there is room', async () => {
    const clock = new VirtualClock();
    loop = memoryFixture({ model: new ScriptedModel({ text: 'ok' }), clock });
    const session = await loop.session('s');
    await loop.start();
    const { faults } = loop.deployment.memory;
    let tries = 0;
    const full = () =>
      faults.failNextAppend({
        at: 'before',
        code: 'storage_full',
        match: ({ service }) => service === 'loop' && ++tries > 0,
      });
    for (let i = 0; i < 4; i++) full();
    await session.inject('hi');
    const waits: number[] = [];
    for (let i = 0; i < 4; i++) {
      await clock.whenPending();
      waits.push(clock.untilNext!);
      await clock.next();
    }
    await session.until('turn/end');
    expect(waits[0]).toBeGreaterThanOrEqual(1_000);
    expect(waits.at(-1)).toBeGreaterThan(2 * waits[0]!);
    expect([tries, faults.pending]).toEqual([4, 0]);
    expect(await session.payloads('turn/end')).toMatchObject([{ status: 'completed' }]);
    expect(violations(await session.events(), { settled: true })).toEqual([]);
  });
});
