import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type TestNats, startTestNats } from '@longrein/testing';
import type { NatsConnection } from '@nats-io/nats-core';
import { Scrubber } from '../core/index.js';
import type { AppendRequest, ReadRequest } from '../port/index.js';
import { PartitionOwner } from './partition-owner.js';
import { provision } from './provision.js';
import { type RawPage, SessionReader } from './session-reader.js';
import { StreamApi } from './stream-api.js';

const STREAM = 'SESSIONS_0';

/** Reads of one session wait at a gate. */
class GatedReader extends SessionReader {
  #gate: { readonly id: string; readonly opened: Promise<void>; readonly reached: () => void } | undefined;

  close(id: string): { reached: Promise<void>; open: () => void } {
    const reached = Promise.withResolvers<void>();
    const opened = Promise.withResolvers<void>();
    this.#gate = { id, opened: opened.promise, reached: reached.resolve };
    return { reached: reached.promise, open: opened.resolve };
  }

  override async page(partition: number, id: string, request: ReadRequest): Promise<RawPage> {
    if (this.#gate?.id === id) {
      this.#gate.reached();
      await this.#gate.opened;
    }
    return super.page(partition, id, request);
  }
}

function appendOf(eventId: string, text = 'x'): AppendRequest {
  const payload = { input_id: eventId, text, wake: false };
  return { events: [{ type: 'input/queued', payload, event_id: eventId }], since: 0 };
}

function turn(eventId: string, epoch: number): AppendRequest {
  const payload = { turn_id: eventId, agent: 'a', epoch };
  return { events: [{ type: 'turn/start', payload, event_id: eventId }], since: 0, epoch };
}

describe('the owner of a partition', () => {
  let nats: TestNats;
  let nc: NatsConnection;
  let api: StreamApi;
  let reader: GatedReader;
  let owner: PartitionOwner;
  const open = (): Promise<PartitionOwner> =>
    PartitionOwner.open(
      { nc, api, reader, scrubber: new Scrubber(), partitions: 1, onEnd: () => undefined },
      'sessions',
      0,
    );
  beforeEach(async () => {
    nats = await startTestNats();
    nc = await nats.connect();
    api = new StreamApi(nc);
    reader = new GatedReader(nc, api, 'sessions');
    await provision(nc, { partitions: 1 });
    owner = await open();
  });
  afterEach(async () => {
    owner.stop();
    await nats.stop();
  });

  /** Leaves room for this many more bytes in the stream; -1: for any number. */
  async function room(bytes: number): Promise<void> {
    const { config, state } = await api.request<{ config: object; state: { bytes: number } }>(`STREAM.INFO.${STREAM}`);
    await api.request(`STREAM.UPDATE.${STREAM}`, { ...config, max_bytes: bytes < 0 ? -1 : state.bytes + bytes });
  }

  async function stored(id: string): Promise<{ seq: number; id: string }[]> {
    const { events } = await reader.page(0, id, { from_seq: 0, limit: 200 });
    return events.map(({ message }) => JSON.parse(Buffer.from(message.data).toString()) as { seq: number; id: string });
  }

  it('says that the stream is full, and goes on where it ended once there is room', async () => {
    await owner.create('s1');
    await room(60_000);
    const text = 'x'.repeat(10_000);
    const appends = Array.from({ length: 20 }, (_, i) => owner.append('gateway', 's1', appendOf(`e${i}`, text)));
    const outcomes = await Promise.allSettled(appends);
    const taken = outcomes.filter(({ status }) => status === 'fulfilled').length;
    expect(taken).toBeGreaterThan(0);
    for (const outcome of outcomes.slice(taken)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'storage_full' } });
    }
    await expect(owner.append('gateway', 's1', appendOf('still', text))).rejects.toMatchObject({
      code: 'storage_full',
    });
    await expect(owner.create('s2')).resolves.toMatchObject({ created: true });
    await room(-1);
    expect(await owner.append('gateway', 's1', appendOf(`e${taken}`, text))).toMatchObject({ seq: taken + 1 });
    expect(await owner.append('gateway', 's1', appendOf('e0', text))).toMatchObject({ seq: 1 });
    expect((await stored('s1')).map(({ seq }) => seq)).toEqual(Array.from({ length: taken + 2 }, (_, i) => i));
  });

  it('does not begin a term for which there is no room, and says why at once', async () => {
    await room(0);
    await expect(open()).rejects.toMatchObject({ code: 'storage_full', message: expect.stringMatching(/max_bytes/) });
    await room(-1);
    owner.stop();
    owner = await open();
    expect(await owner.create('s1')).toMatchObject({ created: true });
  });

  it('finishes a fork during which the stream was full, every event once', async () => {
    await owner.create('parent');
    for (let i = 1; i <= 5; i++) await owner.append('gateway', 'parent', appendOf(`p${i}`));
    await owner.create('other');
    const gate = reader.close('parent');
    const fork = owner.fork({ from: 'parent', to: 'child', boundary: 5 });
    await gate.reached;
    gate.open();
    const copying = reader.close('parent');
    const outcome = fork.then(
      () => undefined,
      (error: unknown) => error,
    );
    await copying.reached;
    await room(0);
    await expect(owner.append('gateway', 'other', appendOf('o1'))).rejects.toMatchObject({ code: 'storage_full' });
    await room(-1);
    const append = owner.append('gateway', 'child', appendOf('c1')).catch((error: unknown) => error);
    copying.open();
    expect(await outcome).toMatchObject({ code: 'unavailable' });
    expect(await append).toMatchObject({ code: 'unavailable' });

    expect(await owner.append('gateway', 'child', appendOf('c1'))).toMatchObject({ seq: 7 });
    expect(await owner.fork({ from: 'parent', to: 'child', boundary: 5 })).toEqual({ boundary: 5, last_seq: 6 });
    expect((await stored('child')).map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it('forgets claims that were not stored, and fences nobody by them', async () => {
    await owner.create('s1');
    const { epoch } = await owner.own({ scope: 'loop', owner: 'a' });
    await room(0);
    const outcomes = await Promise.allSettled([
      owner.own({ scope: 'loop', owner: 'b' }),
      owner.own({ scope: 'loop', owner: 'c' }),
      owner.append('loop', 's1', turn('t1', epoch)),
    ]);
    for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: { code: 'storage_full' } });
    await room(-1);
    expect(await owner.append('loop', 's1', turn('t1', epoch))).toMatchObject({ seq: 1 });
    expect(await owner.own({ scope: 'loop', owner: 'a' })).toEqual({ epoch });
    const next = await owner.own({ scope: 'loop', owner: 'b' });
    expect(next.epoch).toBeGreaterThan(epoch);
    await expect(owner.append('loop', 's1', turn('t2', epoch))).rejects.toMatchObject({
      code: 'fenced',
      details: { epoch: next.epoch },
    });
  });

  it('answers nothing out of its memory once the store has lost data', async () => {
    await owner.create('s1');
    await owner.append('gateway', 's1', appendOf('e1'));
    const { config } = await api.request<{ config: object }>(`STREAM.INFO.${STREAM}`);
    await api.request(`STREAM.DELETE.${STREAM}`);
    await api.request(`STREAM.CREATE.${STREAM}`, config);
    await expect(owner.reconcile()).rejects.toMatchObject({ code: 'unavailable' });
    for (const request of [appendOf('e1'), appendOf('e2')]) {
      await expect(owner.append('gateway', 's1', request)).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringContaining('lost data') as unknown,
      });
    }
    await expect(owner.create('s1')).rejects.toMatchObject({ code: 'unavailable' });
  });
});
