import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { logSubject, partitionOf } from '@longrein/events';
import { availableNatsVersions, type NatsServer, startNatsServer } from '@longrein/nats-server';
import type { Msg, NatsConnection, Subscription } from '@nats-io/nats-core';
import { connect } from '@nats-io/transport-node';
import { LogError } from '../port/index.js';
import { LogClient } from './log-client.js';

const PARTITIONS = 4;
const append = { since: -1, events: [{ type: 'input/queued', payload: { input_id: 'i', text: 'hi', wake: true } }] };
const success = { seq: 1, at: '2026-11-30T00:00:00.000000Z', missed: [] };
const moved = { error: { code: 'moved', message: 'gone' } };

interface Body {
  readonly events: readonly { readonly event_id: string }[];
}

describe.each(availableNatsVersions())('requests on NATS $version', ({ path }) => {
  let server: NatsServer;
  let nc: NatsConnection;
  let service: NatsConnection;
  let log: LogClient;
  const subject = logSubject('sessions', partitionOf('s1', PARTITIONS), 'append', 'loop');

  beforeAll(async () => {
    server = await startNatsServer({ binary: path });
    service = await connect({ servers: server.url });
  });
  afterAll(async () => {
    await service?.close();
    await server?.stop();
  });
  beforeEach(async () => {
    nc = await connect({ servers: server.url, maxReconnectAttempts: -1, reconnectTimeWait: 20 });
    log = new LogClient(nc, { service: 'loop', partitions: PARTITIONS, retry: { try_timeout_ms: 100, grace_ms: 50 } });
  });
  afterEach(async () => {
    log.close();
    await nc.close();
  });

  /** A stand-in for the log service: gets each try with its number, from 1. */
  async function serve(handle: (msg: Msg, attempt: number) => void): Promise<Subscription> {
    let attempts = 0;
    const subscription = service.subscribe(subject, { callback: (_, msg) => handle(msg, ++attempts) });
    await service.flush();
    return subscription;
  }

  const answer = (msg: Msg, body: object): boolean => msg.respond(JSON.stringify(body));

  it('sends the same append again when the answer is lost', async () => {
    const tries: Body[] = [];
    const served = await serve((msg, attempt) => {
      tries.push(msg.json());
      if (attempt === 3) answer(msg, success);
    });
    await expect(log.append('s1', append)).resolves.toEqual(success);
    served.unsubscribe();
    expect(tries).toHaveLength(3);
    expect(tries[0]!.events[0]!.event_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(tries[1]).toEqual(tries[0]);
    expect(tries[2]).toEqual(tries[0]);
  });

  it('takes a late answer to an earlier try, and only for its own call', async () => {
    let first: Msg | undefined;
    const served = await serve((msg, attempt) => {
      if (attempt === 1) first = msg;
      else if (attempt === 2) answer(first!, success);
      else answer(msg, { ...success, seq: 9 });
    });
    await expect(log.append('s1', append)).resolves.toEqual(success);
    const second = log.append('s1', append);
    answer(first!, { ...success, seq: 2 });
    await expect(second).resolves.toEqual({ ...success, seq: 9 });
    served.unsubscribe();
  });

  it('lets the owner answer behind a stale replica that says moved', async () => {
    let tries = 0;
    const served = await serve((msg) => {
      tries++;
      answer(msg, moved);
      service.flush().then(() => answer(msg, success), fail);
    });
    await expect(log.append('s1', append)).resolves.toEqual(success);
    served.unsubscribe();
    expect(tries).toBe(1);
  });

  it('lets a success win over a refusal of another try', async () => {
    const served = await serve((msg, attempt) => {
      if (attempt === 1) return void answer(msg, moved);
      answer(msg, { error: { code: 'unknown_session', message: 'no s1' } });
      service.flush().then(() => answer(msg, success), fail);
    });
    await expect(log.append('s1', append)).resolves.toEqual(success);
    served.unsubscribe();
  });

  it('retries moved and unavailable, and hands on any other refusal with its details', async () => {
    const missed = [{ id: 'e', session_id: 's1', seq: 4, at: '', type: 'x/y', payload: {}, v: 1 }];
    const served = await serve((msg, attempt) => {
      if (attempt === 1) answer(msg, moved);
      else if (attempt === 2) answer(msg, { error: { code: 'unavailable', message: 'busy' } });
      else if (attempt === 3) msg.respond('nonsense');
      else answer(msg, { error: { code: 'conflict', message: 'late', missed, last_seq: 4 } });
    });
    const error = await log.append('s1', append).catch((e: unknown) => e);
    served.unsubscribe();
    expect(error).toMatchObject({
      name: 'LogError',
      code: 'conflict',
      message: 'late',
      details: { missed, last_seq: 4 },
    });
  });

  it('gives up at the deadline and says what it saw', async () => {
    const error = await log.append('s1', append, { deadline_ms: 300 }).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(LogError);
    expect(error).toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/300 ms and \d+ tries \(nobody serves/),
    });
  });

  it('succeeds when the service comes up before the deadline', async () => {
    const pending = log.append('s1', append);
    const served = await serve((msg) => answer(msg, success));
    await expect(pending).resolves.toEqual(success);
    served.unsubscribe();
  });

  it('uses only the answer to its latest claim of ownership: each try raises the epoch', async () => {
    const tries: Msg[] = [];
    const served = service.subscribe(logSubject('sessions', 1, 'own'), {
      callback: (_, msg) => {
        tries.push(msg);
        if (tries.length !== 2) return;
        answer(tries[0]!, { epoch: 7 });
        answer(tries[1]!, { epoch: 8 });
      },
    });
    await service.flush();
    await expect(log.own(1, { scope: 'loop', owner: 'me' })).resolves.toEqual({ epoch: 8 });
    served.unsubscribe();
  });

  it('stops when its signal aborts', async () => {
    const abort = new AbortController();
    const served = await serve(() => abort.abort());
    await expect(log.append('s1', append, { signal: abort.signal })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('outcome was open'),
    });
    await expect(log.append('s1', append, { signal: abort.signal })).rejects.toMatchObject({
      message: expect.stringContaining('before it was sent'),
    });
    served.unsubscribe();
  });

  it('refuses what JSON would change and what the server would not carry, sending nothing (LOG-11)', async () => {
    let tries = 0;
    const served = await serve(() => void tries++);
    for (const payload of [NaN, new Date(), '\ud800', { [Symbol('k')]: 1 }, [undefined], 1n]) {
      const request = { since: -1, events: [{ type: 'x/y', payload: { value: payload } }] };
      await expect(log.append('s1', request)).rejects.toMatchObject({ code: 'invalid_event' });
    }
    await expect(log.append('s1', { ...append, since: NaN })).rejects.toMatchObject({ code: 'invalid_event' });
    await expect(log.append('a.b', append)).rejects.toMatchObject({ code: 'invalid_event' });
    await expect(log.read('s1', { from_seq: -1 })).rejects.toMatchObject({ code: 'invalid_event' });
    const huge = { since: -1, events: [{ type: 'x/y', payload: { text: 'x'.repeat(2 * 1024 * 1024) } }] };
    await expect(log.append('s1', huge)).rejects.toMatchObject({ code: 'too_large' });
    await service.flush();
    served.unsubscribe();
    expect(tries).toBe(0);
  });

  it('goes on after the server restarted, in the middle of a call', async () => {
    let tries = 0;
    const served = await serve(() => void tries++);
    const pending = log.append('s1', append);
    served.unsubscribe();
    await server.kill();
    await server.restart();
    await service.close();
    service = await connect({ servers: server.url });
    const again = await serve((msg) => answer(msg, success));
    await expect(pending).resolves.toEqual(success);
    again.unsubscribe();
  });
});

function fail(error: unknown): never {
  throw error;
}
