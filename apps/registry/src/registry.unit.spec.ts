import { describe, expect, it } from '@jest/globals';
import { FLEET_ID } from '@longrein/events';
import fc from 'fast-check';
import { AgentBusy, AgentCapExceeded, AgentExists, AgentNotFound } from './core/errors.js';
import { SPEC, spawn, world } from './registry.spec-kit.js';

describe('spawn', () => {
  it('admits, creates and configures the session, starts the agent', async () => {
    const { registry, events, agentEvents } = world();
    const info = await registry().spawn(spawn('a1', { config_revision: 'r1' }));
    expect(info).toMatchObject({ agent_id: 'a1', session_id: 'a1', generation: 1, status: 'idle' });
    expect(await events('a1')).toMatchObject([
      { type: 'session/created' },
      {
        type: 'session/configured',
        payload: { agent_id: 'a1', generation: 1, config_revision: 'r1', spec: SPEC },
      },
    ]);
    expect((await agentEvents('a1')).map(({ type }) => type)).toEqual(['agent/created', 'agent/started']);
    expect((await agentEvents(FLEET_ID)).map(({ type }) => type)).toEqual(['agent/created', 'agent/admitted']);
  });

  it('REG-01 refuses an agent id in use and leaves the existing agent untouched', async () => {
    const { registry, events, agentEvents } = world();
    await registry().spawn(spawn('a1'));
    const before = [await events('a1'), await agentEvents('a1'), await agentEvents(FLEET_ID)];
    await expect(registry().spawn(spawn('a1', { session_id: 'other' }))).rejects.toThrow(AgentExists);
    expect([await events('a1'), await agentEvents('a1'), await agentEvents(FLEET_ID)]).toEqual(before);
    await expect(events('other')).rejects.toThrow(expect.objectContaining({ code: 'unknown_session' }));
  });

  it('REG-02 refuses a second agent for a session, naming the agent it has', async () => {
    const { registry } = world();
    await registry().spawn(spawn('a1', { session_id: 's1' }));
    const refused = registry().spawn(spawn('a2', { session_id: 's1' }));
    await expect(refused).rejects.toThrow(AgentExists);
    await expect(refused).rejects.toThrow(/session s1 has a live agent already \(a1\)/);
  });

  it('REG-03 refuses beyond the cap with an error that names the setting', async () => {
    const { registry } = world({ maxAgents: 1 });
    await registry().spawn(spawn('a1'));
    const refused = registry().spawn(spawn('a2'));
    await expect(refused).rejects.toThrow(AgentCapExceeded);
    await expect(refused).rejects.toThrow(/max_agents \(1\).*LONGREIN_MAX_AGENTS/);
  });

  it('REG-04 takes another agent once one is disposed', async () => {
    const { registry } = world({ maxAgents: 1 });
    await registry().spawn(spawn('a1'));
    await registry().dispose({ agent_id: 'a1' });
    await expect(registry().spawn(spawn('a2'))).resolves.toMatchObject({ agent_id: 'a2' });
  });

  it('REG-05 takes another agent once the cap is raised while running', async () => {
    const { registry, limits } = world({ maxAgents: 1 });
    const running = registry();
    await running.spawn(spawn('a1'));
    await expect(running.spawn(spawn('a2'))).rejects.toThrow(AgentCapExceeded);
    limits.max_agents = 2;
    await expect(running.spawn(spawn('a2'))).resolves.toMatchObject({ agent_id: 'a2' });
  });

  it('REG-03 keeps the cap exact when three registries spawn at the same time', async () => {
    const { registry, agentEvents } = world({ maxAgents: 10 });
    const registries = [registry(), registry(), registry()];
    const spawns = Array.from({ length: 45 }, (_, i) => registries[i % 3]!.spawn(spawn(`a${i}`)));
    const outcomes = await Promise.allSettled(spawns);
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(outcomes.length - refused.length).toBe(10);
    expect(refused.every(({ reason }) => reason instanceof AgentCapExceeded)).toBe(true);
    expect((await agentEvents(FLEET_ID)).filter(({ type }) => type === 'agent/admitted')).toHaveLength(10);
    expect(await registries[0]!.list()).toHaveLength(10);
  });

  it('REG-03 REG-04 never has more live than the cap, whatever the order of appends', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.integer({ min: 1, max: 3 }), async (scheduler, maxAgents) => {
        const { registry, agentEvents } = world({
          maxAgents,
          schedule: (step, { id }) => scheduler.schedule(Promise.resolve(), `${step} ${id}`),
        });
        const work = Array.from({ length: 5 }, async (_, i) => {
          await registry().spawn(spawn(`a${i}`));
          if (i % 2 === 0) await registry().dispose({ agent_id: `a${i}` });
        });
        await scheduler.waitFor(Promise.allSettled(work));
        let live = 0;
        for (const { type } of await agentEvents(FLEET_ID)) {
          if (type === 'agent/admitted') live++;
          if (type === 'agent/released') live--;
          expect(live).toBeLessThanOrEqual(maxAgents);
        }
      }),
      { numRuns: 40 },
    );
  });

  it('REG-01 REG-02 admits one of many that ask for the same id, or the same session, at the same time', async () => {
    const { registry, events } = world();
    const registries = [registry(), registry(), registry()];
    const sameId = registries.map((one) => one.spawn(spawn('a')));
    const sameSession = registries.map((one, i) => one.spawn(spawn(`b${i}`, { session_id: 's' })));
    const won = (outcomes: PromiseSettledResult<unknown>[]) => outcomes.filter(({ status }) => status === 'fulfilled');
    expect(won(await Promise.allSettled(sameId))).toHaveLength(1);
    expect(won(await Promise.allSettled(sameSession))).toHaveLength(1);
    expect((await events('s')).filter(({ type }) => type === 'session/configured')).toHaveLength(1);
  });

  it('answers a repeated request as the first time', async () => {
    const { registry, events } = world();
    const first = await registry().spawn(spawn('a1', { request_id: 'r' }));
    await expect(registry().spawn(spawn('a1', { request_id: 'r' }))).resolves.toEqual(first);
    expect(await events('a1')).toHaveLength(2);
  });

  it.each(['session/configured', 'agent/started'])('completes a spawn whose registry died before %s', async (lost) => {
    const { log, registry, events, agentEvents } = world();
    log.faults.failNextAppend({ at: 'before', match: ({ request }) => request.events[0]?.type === lost });
    await expect(registry().spawn(spawn('a1'))).rejects.toThrow();
    await registry().reconcile();
    await registry().reconcile();
    expect((await events('a1')).map(({ type }) => type)).toEqual(['session/created', 'session/configured']);
    expect((await agentEvents('a1')).map(({ type }) => type)).toEqual(['agent/created', 'agent/started']);
  });
});

describe('dispose', () => {
  it('REG-06 REG-09 frees id and session, and says which session it was', async () => {
    const { registry, agentEvents } = world();
    const { generation } = await registry().spawn(spawn('a1', { session_id: 's1' }));
    await expect(registry().dispose({ agent_id: 'a1', reason: 'done' })).resolves.toEqual({
      session_id: 's1',
      generation,
    });
    expect((await agentEvents('a1')).at(-1)).toMatchObject({
      type: 'agent/disposed',
      payload: { generation, reason: 'done' },
    });
    expect((await agentEvents(FLEET_ID)).at(-1)).toMatchObject({
      type: 'agent/released',
      payload: { agent_id: 'a1', session_id: 's1', generation },
    });
    const again = await registry().spawn(spawn('a1', { session_id: 's1' }));
    expect(again.generation).toBeGreaterThan(generation);
  });

  it('REG-07 refuses while a turn is open, whatever its state', async () => {
    const { registry, loop, startTurn, endTurn } = world();
    await registry().spawn(spawn('a1'));
    await startTurn('a1', 't1');
    await expect(registry().dispose({ agent_id: 'a1' })).rejects.toThrow(AgentBusy);
    await loop.append('a1', {
      events: [{ type: 'approval/requested', payload: { call_seq: 3, call_id: 'c', name: 'rm', args: {} } }],
      since: -1,
    });
    await expect(registry().dispose({ agent_id: 'a1' })).rejects.toThrow(/waiting_approval/);
    await endTurn('a1', 't1');
    await expect(registry().dispose({ agent_id: 'a1' })).resolves.toBeDefined();
  });

  it('REG-07 refuses while a granted turn has not started', async () => {
    const { registry } = world();
    await registry().spawn(spawn('a1'));
    await registry().inject({ session_id: 'a1', input_id: 'i1', text: 'hi' });
    await expect(registry().dispose({ agent_id: 'a1' })).rejects.toThrow(AgentBusy);
  });

  it('refuses an agent that is not live, and another generation of one that is', async () => {
    const { registry } = world();
    await expect(registry().dispose({ agent_id: 'a1' })).rejects.toThrow(AgentNotFound);
    const { generation } = await registry().spawn(spawn('a1'));
    await expect(registry().dispose({ agent_id: 'a1', generation: generation + 1 })).rejects.toThrow(AgentNotFound);
  });

  it('is completed by another registry when the one that began it died', async () => {
    const { log, registry } = world({ maxAgents: 1 });
    await registry().spawn(spawn('a1'));
    log.faults.failNextAppend({ at: 'before', match: ({ request }) => request.events[0]?.type === 'agent/released' });
    await expect(registry().dispose({ agent_id: 'a1' })).rejects.toThrow();
    await registry().reconcile();
    await expect(registry().spawn(spawn('a2'))).resolves.toBeDefined();
  });

  it('REG-12 disposes once when asked twice at the same time', async () => {
    const { registry, agentEvents } = world();
    await registry().spawn(spawn('a1'));
    await Promise.allSettled([registry().dispose({ agent_id: 'a1' }), registry().dispose({ agent_id: 'a1' })]);
    expect((await agentEvents('a1')).filter(({ type }) => type === 'agent/disposed')).toHaveLength(1);
    expect((await agentEvents(FLEET_ID)).filter(({ type }) => type === 'agent/released')).toHaveLength(1);
  });

  it('leaves alone what the next agent of the session was granted, where another registry was faster', async () => {
    // The other registry disposes and spawns anew between this one's look at the agent and its append.
    let meanwhile: (() => Promise<unknown>) | undefined;
    const { registry, events } = world({
      schedule: async (step, { id }) => {
        if (step !== 'store' || id !== 'a1' || !meanwhile) return;
        const now = meanwhile;
        meanwhile = undefined;
        await now();
      },
    });
    await registry().spawn(spawn('a1', { session_id: 's1' }));
    const other = registry();
    meanwhile = async () => {
      await other.dispose({ agent_id: 'a1' });
      await other.spawn(spawn('a1', { session_id: 's1' }));
      await other.inject({ session_id: 's1', input_id: 'i1', text: 'hi' });
    };
    await registry().dispose({ agent_id: 'a1' });
    expect((await events('s1')).map(({ type }) => type)).not.toContain('turn/cancel_requested');
    await expect(registry().find('a1')).resolves.not.toBeNull();
  });
});

describe('look-up', () => {
  it('REG-08 finds the live agent by session and by id, or nothing', async () => {
    const { registry } = world();
    await registry().spawn(spawn('a1', { session_id: 's1' }));
    await expect(registry().forSession('s1')).resolves.toMatchObject({ agent_id: 'a1' });
    await expect(registry().find('a1')).resolves.toMatchObject({ session_id: 's1' });
    await expect(registry().forSession('a1')).resolves.toBeNull();
    await expect(registry().find('s1')).resolves.toBeNull();
    await registry().dispose({ agent_id: 'a1' });
    await expect(registry().forSession('s1')).resolves.toBeNull();
  });
});
