import { describe, expect, it } from '@jest/globals';
import { fold, inbox } from '@longrein/session';
import { AgentNotFound, SessionNotConfigured } from './core/errors.js';
import { spawn, world } from './registry.spec-kit.js';

describe('inject', () => {
  const input = (input_id: string, text = input_id) => ({ session_id: 'a1', input_id, text });

  it('grants a turn in an idle session', async () => {
    const { registry, events } = world();
    const { generation } = await registry().spawn(spawn('a1'));
    await registry().inject(input('i1', 'hello'));
    expect((await events('a1')).at(-1)).toMatchObject({
      type: 'input/queued',
      payload: { input_id: 'i1', text: 'hello', wake: true, grant: { agent_turn_id: 'i1', generation } },
    });
  });

  it('steers the turn that is open', async () => {
    const { registry, events, startTurn } = world();
    await registry().spawn(spawn('a1'));
    await startTurn('a1', 't1');
    await registry().inject(input('i2'));
    expect((await events('a1')).at(-1)?.payload).toEqual({ input_id: 'i2', text: 'i2', wake: true });
  });

  it('grants one of many inputs that arrive at the same time at several registries', async () => {
    const { registry, events } = world();
    await registry().spawn(spawn('a1'));
    const registries = [registry(), registry(), registry()];
    await Promise.all(Array.from({ length: 12 }, (_, i) => registries[i % 3]!.inject(input(`i${i}`))));
    const state = fold(await events('a1'));
    expect(inbox(state)).toHaveLength(12);
    expect(inbox(state).filter(({ grant }) => grant)).toHaveLength(1);
  });

  it('stores a repeated input once, also after its turn has begun', async () => {
    const { registry, events, startTurn, takeInput } = world();
    await registry().spawn(spawn('a1'));
    const first = await registry().inject(input('i1'));
    await startTurn('a1', 'i1');
    await takeInput('a1', 'i1', 'i1');
    await expect(registry().inject(input('i1'))).resolves.toEqual(first);
    expect((await events('a1')).filter(({ type }) => type === 'input/queued')).toHaveLength(1);
  });

  it('takes an input id that is no event id', async () => {
    const { registry, events } = world();
    await registry().spawn(spawn('a1'));
    const id = 'ä'.repeat(256);
    await registry().inject(input(id));
    await registry().inject(input(id));
    expect((await events('a1')).filter(({ type }) => type === 'input/queued')).toHaveLength(1);
  });

  it('refuses a session without an agent and one whose agent is gone', async () => {
    const { registry, log } = world();
    await expect(registry().inject(input('i1'))).rejects.toThrow(SessionNotConfigured);
    await log.as('gateway').create('a1');
    await expect(registry().inject(input('i1'))).rejects.toThrow(SessionNotConfigured);
    await registry().spawn(spawn('a1'));
    await registry().dispose({ agent_id: 'a1' });
    await expect(registry().inject(input('i1'))).rejects.toThrow(AgentNotFound);
  });

  it('revokes the grant when the agent was disposed elsewhere at the same moment', async () => {
    // The other registry disposes between this one's look at the session and its append.
    let dispose: (() => Promise<unknown>) | undefined;
    const { registry, events } = world({
      schedule: async (step, { id }) => {
        if (step !== 'store' || id !== 'a1' || !dispose) return;
        const now = dispose;
        dispose = undefined;
        await now();
      },
    });
    await registry().spawn(spawn('a1'));
    const other = registry();
    dispose = () => other.dispose({ agent_id: 'a1' });
    await expect(registry().inject(input('i1'))).rejects.toThrow(AgentNotFound);
    const state = fold(await events('a1'));
    expect(inbox(state).filter(({ grant, revoked }) => grant && !revoked)).toEqual([]);
  });
});

describe('promote', () => {
  it('grants the oldest waking input once the turn it came too late for has ended', async () => {
    const { registry, events, startTurn, takeInput, endTurn } = world();
    const one = registry();
    await one.spawn(spawn('a1'));
    await one.inject({ session_id: 'a1', input_id: 'i1', text: 'first' });
    await startTurn('a1', 'i1');
    await takeInput('a1', 'i1', 'first');
    await one.inject({ session_id: 'a1', input_id: 'i2', text: 'second', origin: 'cli' });
    await one.inject({ session_id: 'a1', input_id: 'i3', text: 'third' });
    const agent = await one.liveFor('a1');
    await expect(one.promote(agent!)).resolves.toBe(false);
    await endTurn('a1', 'i1');
    await Promise.all([one.promote(agent!), registry().promote(agent!)]);
    const granted = inbox(fold(await events('a1'))).filter(({ grant }) => grant);
    expect(granted).toMatchObject([{ text: 'second', origin: 'cli', grant: { promotes: 'i2' } }]);
  });
});
