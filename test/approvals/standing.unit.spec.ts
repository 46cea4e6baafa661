import { afterEach, describe, expect, it } from '@jest/globals';
import { ScriptedModel, memoryFixture, scriptedTools } from '@longrein/loop-app/testing';
import { status } from '@longrein/session';
import { VirtualClock } from '@longrein/testing';
import { Approvals } from '../../apps/approvals/src/approvals.js';

const DAY = 24 * 3_600_000;

let loop: ReturnType<typeof memoryFixture>;

afterEach(() => loop.stop());

/** A session whose only call waits for a verdict, on a clock of the test's own. */
async function gated() {
  const runs: unknown[] = [];
  const clock = new VirtualClock();
  loop = memoryFixture({
    model: new ScriptedModel({ calls: [{ id: 'c1', name: 'deploy', args: { to: 'production' } }] }, { text: 'done' }),
    tools: scriptedTools({ deploy: (args) => runs.push(args) }, { deploy: { approval: 'always' } }),
    clock,
  });
  const session = await loop.session('s');
  await loop.start();
  await session.inject('go');
  await session.until('approval/requested');
  return { session, clock, runs };
}

const replica = (): Approvals => new Approvals(loop.deployment.as('approvals'));

describe('a call that waits for a verdict (complaint 17)', () => {
  it('APR-19 waits 30 days with no timer that could decide it, then runs once', async () => {
    const { session, clock, runs } = await gated();
    const asked = await replica().pending('s');
    expect(asked.pending).toMatchObject([{ call_id: 'c1', name: 'deploy', args: { to: 'production' } }]);
    // What is still timed after the request, such as its turn's leave from memory, is over within the first day.
    await clock.advance(DAY);
    expect(clock.pending).toBe(0);
    await clock.advance(29 * DAY);
    expect(clock.pending).toBe(0);
    expect(status(await session.state())).toBe('waiting_approval');
    expect(await replica().pending('s')).toEqual(asked);
    expect(runs).toEqual([]);

    await replica().resolve({ session_id: 's', call_id: 'c1', verdict: 'approved' });
    await session.until('turn/end');
    expect(runs).toEqual([{ to: 'production' }]);
    expect((await replica().pending('s')).pending).toEqual([]);
    expect(await session.payloads('approval/resolved')).toHaveLength(1);
  });

  it('APR-17, APR-18 stands through 50 deaths of the loop and of the service, the same each time', async () => {
    const { session, clock, runs } = await gated();
    const asked = await replica().pending('s');
    for (let i = 0; i < 50; i++) {
      loop.crash();
      await loop.start();
      await clock.advance(DAY);
      expect(await replica().pending('s')).toEqual(asked);
    }
    expect(status(await session.state())).toBe('waiting_approval');
    expect(await session.payloads('approval/requested')).toHaveLength(1);
    expect(await session.payloads('approval/resolved')).toEqual([]);

    // The verdict comes while nothing runs; whoever starts next honours it and asks no more.
    loop.crash();
    await replica().resolve({ session_id: 's', call_id: 'c1', verdict: 'approved' });
    await loop.start();
    await session.until('turn/end');
    expect(runs).toEqual([{ to: 'production' }]);
    expect(await session.payloads('approval/requested')).toHaveLength(1);
  });

  it('APR-20, APR-21 a cancel denies it, and no verdict comes after', async () => {
    const { session, runs } = await gated();
    await session.cancel({ reason: 'enough' });
    await session.until('turn/end');
    const late = replica().resolve({ session_id: 's', call_id: 'c1', verdict: 'approved' });
    await expect(late).rejects.toMatchObject({ code: 'stale_call' });
    expect(await session.payloads('approval/resolved')).toMatchObject([{ call_id: 'c1', verdict: 'denied' }]);
    expect(await session.payloads('turn/end')).toMatchObject([{ status: 'cancelled' }]);
    expect(runs).toEqual([]);
  });
});
