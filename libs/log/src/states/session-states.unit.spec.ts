import { describe, expect, it } from '@jest/globals';
import type { ReadRequest, SessionLog } from '../port/index.js';
import { MemoryLog } from '../memory/index.js';
import { SessionStates } from './session-states.js';

/** A log that notes what was read. */
function watched(log: SessionLog): { reads: (ReadRequest & { id: string })[]; read: SessionLog['read'] } {
  const reads: (ReadRequest & { id: string })[] = [];
  return {
    reads,
    read: (id, request, options) => {
      reads.push({ id, ...request });
      return log.read(id, request, options);
    },
  };
}

async function session(memory: MemoryLog, id: string, inputs: number): Promise<void> {
  const log = memory.as('gateway');
  await log.create(id);
  for (let i = 0; i < inputs; i++) {
    const payload = { input_id: `i${i}`, text: 'x', wake: false };
    await log.append(id, { events: [{ type: 'input/queued', payload }], since: -1 });
  }
}

describe('SessionStates', () => {
  it('folds the log and reads only what is new', async () => {
    const memory = new MemoryLog({ partitions: 1 });
    await session(memory, 's', 3);
    const log = watched(memory.as('gateway'));
    const states = new SessionStates(log);
    expect((await states.current('s')).inbox).toHaveLength(3);
    await session(memory, 's', 1);
    expect(await states.current('s')).toMatchObject({ last_seq: 4 });
    expect(log.reads).toEqual([
      { id: 's', from_seq: 0, facts_only: true },
      { id: 's', from_seq: 4, facts_only: true },
    ]);
  });

  it('shares a read among those who ask meanwhile, and never answers with one that began before the asking', async () => {
    const memory = new MemoryLog({ partitions: 1 });
    await session(memory, 's', 1);
    const log = watched(memory.as('gateway'));
    let answer = (): void => undefined;
    const held = new Promise<void>((resolve) => (answer = resolve));
    const states = new SessionStates({
      read: async (...request) => {
        const page = await log.read(...request);
        await held;
        return page;
      },
    });
    const first = states.current('s');
    await session(memory, 's', 1);
    const later = [states.current('s'), states.current('s'), states.current('s')];
    answer();
    expect((await first).last_seq).toBe(1);
    for (const state of await Promise.all(later)) expect(state.last_seq).toBe(2);
    expect(log.reads.map(({ from_seq }) => from_seq)).toEqual([0, 2]);
  });

  it('forgets what was unused for longest, and tells of sessions that do not exist', async () => {
    const memory = new MemoryLog({ partitions: 1 });
    for (const id of ['a', 'b', 'c']) await session(memory, id, 0);
    const log = watched(memory.as('gateway'));
    const states = new SessionStates(log, {}, 2);
    for (const id of ['a', 'b', 'a', 'c', 'a', 'b']) await states.current(id);
    expect(log.reads.map(({ id, from_seq }) => `${id}${from_seq}`)).toEqual(['a0', 'b0', 'a1', 'c0', 'a1', 'b0']);
    await expect(states.current('nobody')).rejects.toMatchObject({ code: 'unknown_session' });
  });
});
