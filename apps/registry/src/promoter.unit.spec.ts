import { afterEach, describe, expect, it } from '@jest/globals';
import type { EventEnvelope } from '@longrein/events';
import { CheckpointMismatch, type EventLog } from '@longrein/log';
import { MemoryDocumentStore, MemoryLog } from '@longrein/log/memory';
import { Promoter } from './promoter.js';
import { Registry } from './registry.js';

const running: Promoter[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((promoter) => promoter.stop()));
});

function world(log = new MemoryLog({ partitions: 2 })) {
  const registry = new Registry({
    sessions: log.as('registry'),
    agents: log.as('registry', 'agents'),
    maxAgents: () => 8,
  });
  const documents = new MemoryDocumentStore();
  const problems: unknown[] = [];
  const promoter = (sessions: EventLog<EventEnvelope> = log.as('registry')): Promoter => {
    const started = new Promoter({
      sessions,
      registry,
      documents,
      pause: () => new Promise((resolve) => setImmediate(resolve)),
      onProblem: (error) => problems.push(error),
    });
    running.push(started);
    started.start();
    return started;
  };
  const loop = async (type: string, payload: object): Promise<void> => {
    await log.as('loop').append('a1', { events: [{ type, payload }], since: -1 });
  };
  return { log, registry, documents, problems, promoter, loop };
}

/** The next granted input of session `a1` that promotes another. */
async function promotion(log: MemoryLog): Promise<EventEnvelope> {
  for await (const event of log.as('registry').follow('a1', { from_seq: 0 })) {
    const { grant } = event.payload as { grant?: { promotes?: string } };
    if (event.type === 'input/queued' && grant?.promotes !== undefined) return event;
  }
  throw new Error('the session ended');
}

async function lateInput({ registry, loop }: ReturnType<typeof world>): Promise<void> {
  await registry.spawn({ agent_id: 'a1', spec: {} });
  await registry.inject({ session_id: 'a1', input_id: 'i1', text: 'first' });
  await loop('turn/start', { turn_id: 'i1', agent: 'a1', input_id: 'i1', epoch: 0 });
  await loop('user/message', { input_id: 'i1', text: 'first' });
  await registry.inject({ session_id: 'a1', input_id: 'i2', text: 'second' });
}

describe('Promoter', () => {
  it('grants a turn to what came too late, as soon as the turn ends', async () => {
    const one = world();
    await lateInput(one);
    one.promoter();
    one.promoter();
    await one.loop('turn/end', { turn_id: 'i1', status: 'completed' });
    expect((await promotion(one.log)).payload).toMatchObject({ text: 'second', grant: { promotes: 'i2' } });
  });

  it('catches up on what happened while no registry ran', async () => {
    const one = world();
    await lateInput(one);
    await one.loop('turn/end', { turn_id: 'i1', status: 'completed' });
    one.promoter();
    expect((await promotion(one.log)).payload).toMatchObject({ grant: { promotes: 'i2' } });
  });

  it('goes on after an error', async () => {
    const one = world();
    await lateInput(one);
    await one.loop('turn/end', { turn_id: 'i1', status: 'completed' });
    one.log.faults.failNextAppend({ at: 'before' });
    one.promoter();
    await promotion(one.log);
    expect(one.problems).toEqual([expect.objectContaining({ code: 'unavailable' })]);
  });

  it('stops following a partition whose stream is not the one it knew, and says so', async () => {
    const one = world();
    const checkpoint = { stream: 'SESSIONS_0', incarnation: 'old', sequence: 9, event_id: 'x' };
    await one.documents.save('registry.turns.0', checkpoint);
    let stopped: (() => void) | undefined;
    const noticed = new Promise<void>((resolve) => (stopped = resolve));
    const promoter = new Promoter({
      sessions: one.log.as('registry'),
      registry: one.registry,
      documents: one.documents,
      pause: () => Promise.reject(new Error('must not be repeated')),
      onProblem: (error) => {
        if (error instanceof CheckpointMismatch) stopped?.();
      },
    });
    running.push(promoter);
    promoter.start();
    await noticed;
    expect([...promoter.problems.keys()]).toEqual([0]);
  });
});
