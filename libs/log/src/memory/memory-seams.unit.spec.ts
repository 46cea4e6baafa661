import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { EventEnvelope } from '@longrein/events';
import { type AppendRequest, isLogError } from '../port/index.js';
import { MemoryDocumentStore } from './memory-document-store.js';
import { MemoryLog } from './memory-log.js';

const input = (text: string, event_id?: string) => ({
  type: 'input/queued',
  payload: { input_id: text, text, wake: false },
  ...(event_id === undefined ? {} : { event_id }),
});

async function eventsOf(log: MemoryLog, id: string): Promise<readonly EventEnvelope[]> {
  return (await log.as('gateway').read(id, { from_seq: 0 })).events;
}

describe('MemoryLog', () => {
  it('gives the same events for the same ids and times', async () => {
    const run = async () => {
      let ids = 0;
      let ticks = 0;
      const now = () => `2030-01-01T00:00:00.${String(ticks++).padStart(6, '0')}Z`;
      const log = new MemoryLog({ partitions: 2, now, newId: () => `id-${ids++}` });
      await log.as('gateway').create('s1');
      await log.as('gateway').append('s1', { events: [input('a'), input('b')], since: 0 });
      await log.as('gateway').fork({ from: 's1', to: 's2', boundary: 1 });
      return [await eventsOf(log, 's1'), await eventsOf(log, 's2')];
    };
    const first = await run();
    expect(await run()).toEqual(first);
    expect(first[0]?.at(-1)).toMatchObject({
      id: expect.stringMatching(/^id-\d+$/),
      at: '2030-01-01T00:00:00.000003Z',
    });
  });

  it('protects what it stored from readers that would change it', async () => {
    const log = new MemoryLog();
    await log.as('gateway').create('s1');
    await log.as('gateway').append('s1', { events: [input('a')], since: 0 });
    const event = (await eventsOf(log, 's1'))[1]!;
    expect(() => Object.assign(event.payload as object, { text: 'changed' })).toThrow(TypeError);
    expect((await eventsOf(log, 's1'))[1]?.payload).toMatchObject({ text: 'a' });
  });

  it('fails an append before it is stored, or after, once', async () => {
    const log = new MemoryLog();
    const gateway = log.as('gateway');
    await gateway.create('s1');
    log.faults.failNextAppend({ at: 'before' });
    log.faults.failNextAppend({ at: 'after', code: 'moved' });
    const before = await gateway.append('s1', { events: [input('a')], since: 0 }).catch((error: unknown) => error);
    expect(isLogError(before, 'unavailable')).toBe(true);
    expect(await eventsOf(log, 's1')).toHaveLength(1);

    const request = { events: [input('b', 'b')], since: 0 };
    const after = await gateway.append('s1', request).catch((error: unknown) => error);
    expect(isLogError(after, 'moved')).toBe(true);
    const events = await eventsOf(log, 's1');
    expect(events).toHaveLength(2);
    expect(await gateway.append('s1', request)).toEqual({ seq: 1, at: events[1]!.at, missed: [] });
    expect(log.faults.pending).toBe(0);
  });

  it('fails only the append that a fault is meant for', async () => {
    const log = new MemoryLog();
    for (const id of ['s1', 's2']) await log.as('gateway').create(id);
    log.faults.failNextAppend({ at: 'before', match: ({ id, service }) => id === 's2' && service === 'gateway' });
    await log.as('gateway').append('s1', { events: [input('a')], since: 0 });
    await log.as('registry').append('s2', { events: [input('a')], since: 0 });
    expect(log.faults.pending).toBe(1);
    await expect(log.as('gateway').append('s2', { events: [input('b')], since: 0 })).rejects.toThrow('injected fault');
  });

  it('lets another session append while one waits to be stored (LOG-02)', async () => {
    const release = Promise.withResolvers<void>();
    const schedule = async (_: string, { id }: { id: string }) => (id === 's1' ? release.promise : undefined);
    const log = new MemoryLog({ schedule });
    for (const id of ['s1', 's2']) await log.as('gateway').create(id);
    const blocked = log.as('gateway').append('s1', { events: [input('a')], since: 0 });
    expect(await log.as('gateway').append('s2', { events: [input('b')], since: 0 })).toMatchObject({ seq: 1 });
    expect(await eventsOf(log, 's1')).toHaveLength(1);
    release.resolve();
    expect(await blocked).toMatchObject({ seq: 1 });
  });

  it('keeps every rule whatever the order of stores and answers, lost answers included (LOG-01)', async () => {
    const writer = fc.record({ events: fc.integer({ min: 1, max: 4 }), lost: fc.boolean(), conditional: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.array(writer, { maxLength: 8 }), async (scheduler, writers) => {
        const schedule = (step: string) => scheduler.schedule(Promise.resolve(), step);
        const log = new MemoryLog({ schedule });
        await log.as('gateway').create('s1');
        const results = writers.map(async ({ events, lost, conditional }, w) => {
          const request: AppendRequest = {
            events: Array.from({ length: events }, (_, i) => input(`${w}-${i}`, `${w}-${i}`)),
            ...(conditional ? { expect: { seq: 0 } } : {}),
            since: 0,
          };
          if (lost) log.faults.failNextAppend({ at: 'after', match: (attempt) => attempt.request === request });
          const append = () => log.as('gateway').append('s1', request);
          return append().catch((error: unknown) =>
            isLogError(error, 'unavailable') ? append() : Promise.reject(error),
          );
        });
        const settled = Promise.allSettled(results);
        await scheduler.waitFor(settled);
        const outcomes = await settled;

        const stored = await eventsOf(log, 's1');
        expect(stored.map((event) => event.seq)).toEqual(stored.map((_, i) => i));
        expect(new Set(stored.map((event) => event.id)).size).toBe(stored.length);
        outcomes.forEach((outcome, w) => {
          const own = stored.filter((event) => event.id.startsWith(`${w}-`));
          if (outcome.status === 'rejected') expect(isLogError(outcome.reason, 'conflict')).toBe(true);
          expect(own).toHaveLength(outcome.status === 'fulfilled' ? writers[w]!.events : 0);
          if (outcome.status !== 'fulfilled') return;
          expect(outcome.value).toMatchObject({ seq: own.at(-1)!.seq, at: own.at(-1)!.at });
          expect(outcome.value.missed).toEqual(stored.slice(1, own[0]!.seq));
          if (writers[w]!.conditional) expect(own[0]!.seq).toBe(1);
        });
      }),
      { numRuns: 200 },
    );
  });

  it.each([0, 1.5, 1025])('does not take %d partitions', (partitions) => {
    expect(() => new MemoryLog({ partitions })).toThrow(RangeError);
  });
});

describe('MemoryDocumentStore', () => {
  it('gives back what was saved, as a copy, until it is deleted', async () => {
    const store = new MemoryDocumentStore();
    const document = { list: [1] };
    await store.save('a', document);
    document.list.push(2);
    expect(await store.load('a')).toEqual({ list: [1] });
    expect(await store.load('b')).toBeUndefined();
    await store.save('a', null);
    expect(await store.load('a')).toBeNull();
    await store.delete('a');
    await store.delete('a');
    expect(await store.load('a')).toBeUndefined();
    await expect(store.save('a', undefined)).rejects.toThrow(TypeError);
  });
});
