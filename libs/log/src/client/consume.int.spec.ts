import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { EventEnvelope } from '@longrein/events';
import { availableNatsVersions, type NatsServer, startNatsServer } from '@longrein/nats-server';
import type { NatsConnection } from '@nats-io/nats-core';
import { connect } from '@nats-io/transport-node';
import { LogServer, StreamApi, provision } from '../jetstream/index.js';
import type { Checkpoint, ConsumeOptions, Delivery, LeaseHandlers, PartitionLeases } from '../port/index.js';
import { LogClient, type LogClientOptions } from './log-client.js';
import { SkippedEvents } from './stream-gap.js';

const STREAM = 'SESSIONS_0';

class OnePartition implements PartitionLeases {
  readonly held = new Set([0]);
  async start(handlers: LeaseHandlers): Promise<void> {
    await handlers.acquired(0);
  }
  async release(): Promise<void> {}
  async stop(): Promise<void> {}
}

const input = (text: string): { type: string; payload: object } => ({
  type: 'input/queued',
  payload: { input_id: 'i', text, wake: false },
});

/** A consumer under test: what it delivered, in parts. */
class Reader {
  readonly events: EventEnvelope[] = [];
  readonly abort = new AbortController();
  readonly deliveries: AsyncGenerator<Delivery, void, void>;
  caughtUp = 0;
  checkpoint: Checkpoint | undefined;

  constructor(log: LogClient, options: Omit<ConsumeOptions, 'partition' | 'signal'>) {
    this.deliveries = log.consume({ partition: 0, signal: this.abort.signal, ...options });
  }

  async next(): Promise<Delivery | undefined> {
    const result = await this.deliveries.next();
    if (result.done) return undefined;
    const { value } = result;
    if (value.kind === 'caught_up') {
      this.caughtUp++;
    } else {
      this.events.push(value.event);
      this.checkpoint = value.checkpoint;
    }
    return value;
  }

  /** Consumes until a delivery that fits. */
  async until(fits: (delivery: Delivery) => boolean): Promise<void> {
    for (;;) {
      const delivery = await this.next();
      if (!delivery || fits(delivery)) return;
    }
  }

  untilText(text: string): Promise<void> {
    return this.until((delivery) => delivery.kind === 'event' && textOf(delivery.event) === text);
  }

  untilCaughtUp(): Promise<void> {
    return this.until(({ kind }) => kind === 'caught_up');
  }

  get texts(): string[] {
    return this.events.map(textOf).filter((text) => text !== '');
  }
}

const textOf = (event: EventEnvelope): string => (event.payload as { text?: string }).text ?? '';
const range = (from: number, to: number): string[] => Array.from({ length: to - from + 1 }, (_, i) => `${from + i}`);

describe.each(availableNatsVersions())('consume on NATS $version', ({ path }) => {
  let server: NatsServer;
  let nc: NatsConnection;
  let service: NatsConnection;
  let logServer: LogServer | undefined;
  let log: LogClient;
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'longrein-consume-'));
    server = await startNatsServer({ binary: path, storeDir: join(directory, 'store') });
    service = await connect({ servers: server.url, maxReconnectAttempts: -1, reconnectTimeWait: 20 });
    nc = await connect({ servers: server.url, maxReconnectAttempts: -1, reconnectTimeWait: 20 });
    await provision(service, { partitions: 1 });
    log = client();
  });
  afterEach(async () => {
    log.close();
    await logServer?.stop();
    logServer = undefined;
    await nc.close();
    await service.close();
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  });

  function client(options: Partial<LogClientOptions> = {}): LogClient {
    return new LogClient(nc, { service: 'gateway', partitions: 1, ...options });
  }

  async function serve(): Promise<void> {
    await logServer?.stop();
    logServer = new LogServer(service, { partitions: 1, leases: new OnePartition() });
    await logServer.start();
    await log.create('s1');
  }

  async function write(from: number, to: number): Promise<void> {
    for (const text of range(from, to)) await log.append('s1', { since: -1, events: [input(text)] });
  }

  it('says caught_up at once on an empty stream, and once only', async () => {
    const reader = new Reader(log, { select: 'all' });
    expect(await reader.next()).toEqual({ kind: 'caught_up' });
    await serve();
    await write(1, 3);
    await reader.untilText('3');
    expect(reader.caughtUp).toBe(1);
    await reader.deliveries.return();
  });

  it('delivers everything in order, says when what was stored is done, and goes on from a checkpoint', async () => {
    await serve();
    await write(1, 30);
    const reader = new Reader(log, { select: 'all' });
    await reader.untilCaughtUp();
    expect(reader.texts).toEqual(range(1, 30));
    expect(reader.events[0]!.type).toBe('partition/opened');
    await write(31, 40);
    await reader.untilText('35');
    expect(reader.checkpoint).toMatchObject({ stream: STREAM, event_id: reader.events.at(-1)!.id });
    await reader.deliveries.return();

    const next = new Reader(log, { select: 'all', after: reader.checkpoint! });
    await next.untilCaughtUp();
    expect(next.texts).toEqual(range(36, 40));
    const done = next.next();
    next.abort.abort();
    expect(await done).toBeUndefined();
  });

  it('selects facts or one family, and is caught up although what is last was left out', async () => {
    await serve();
    await write(1, 5);
    const reader = new Reader(log, { select: { family: 'session' } });
    await reader.untilCaughtUp();
    expect(reader.events.map(({ type }) => type)).toEqual(['session/created']);
    await reader.deliveries.return();
    const again = new Reader(log, { select: { family: 'session' }, after: reader.checkpoint! });
    await again.untilCaughtUp();
    expect(again.events).toEqual([]);
    await again.deliveries.return();
    const facts = new Reader(log, { select: 'facts' });
    await facts.untilCaughtUp();
    expect(facts.texts).toEqual(range(1, 5));
    await facts.deliveries.return();
  });

  it('holds a bounded number of messages for a slow reader and loses none', async () => {
    await serve();
    await Promise.all(range(1, 300).map((text) => log.append('s1', { since: -1, events: [input(text)] })));
    const reader = new Reader(client({ consume: { buffered_messages: 16 } }), { select: 'all' });
    await reader.next();
    const api = new StreamApi(nc);
    const { consumers } = await api.request<{ consumers: string[] }>(`CONSUMER.NAMES.${STREAM}`);
    const info = await api.request<{ delivered: { consumer_seq: number } }>(`CONSUMER.INFO.${STREAM}.${consumers[0]!}`);
    expect(info.delivered.consumer_seq).toBeLessThanOrEqual(17);
    await reader.untilCaughtUp();
    expect(reader.texts.toSorted((a, b) => +a - +b)).toEqual(range(1, 300));
    const advisory = nc.subscribe(`$JS.EVENT.ADVISORY.CONSUMER.DELETED.${STREAM}.*`, { max: 1 });
    await reader.deliveries.return();
    // The server says so itself: nothing is left behind.
    for await (const { subject } of advisory) expect(subject).toContain(consumers[0]);
  });

  it('goes on where it was when the server is killed and restarted', async () => {
    await serve();
    await write(1, 10);
    const reader = new Reader(log, { select: 'all' });
    await reader.untilText('5');
    await server.kill();
    await server.restart();
    await reader.untilText('10');
    const more = reader.untilText('20');
    await serve();
    await write(11, 20);
    await more;
    expect(reader.texts).toEqual(range(1, 20));
    expect(reader.caughtUp).toBe(1);
    await reader.deliveries.return();
  });

  it('makes its consumer anew when it is deleted under it', async () => {
    await serve();
    const troubles: string[] = [];
    const watched = client({ consume: { heartbeat_ms: 100 }, on_trouble: ({ message }) => troubles.push(message) });
    const reader = new Reader(watched, { select: 'all' });
    await write(1, 3);
    await reader.untilText('3');
    const more = reader.untilText('6');
    const api = new StreamApi(nc);
    const { consumers } = await api.request<{ consumers: string[] }>(`CONSUMER.NAMES.${STREAM}`);
    await api.request(`CONSUMER.DELETE.${STREAM}.${consumers[0]!}`);
    await write(4, 6);
    await more;
    expect(reader.texts).toEqual(range(1, 6));
    expect(troubles).toHaveLength(1);
    watched.close();
    await reader.deliveries.return();
  });

  it('makes its consumer anew when heartbeats stop', async () => {
    await serve();
    await write(1, 3);
    const troubles: string[] = [];
    const watched = client({ consume: { heartbeat_ms: 100 }, on_trouble: ({ message }) => troubles.push(message) });
    // Of the first consumer nothing arrives any more once it has delivered: its later pulls get lost.
    const publish = nc.publish.bind(nc);
    let pulls = 0;
    nc.publish = (subject, ...rest) => {
      if (!subject.startsWith('$JS.API.CONSUMER.MSG.NEXT.') || ++pulls > 1) publish(subject, ...rest);
    };
    const reader = new Reader(watched, { select: 'all' });
    await reader.untilText('3');
    expect(troubles).toEqual([expect.stringContaining('no sign of life')]);
    expect(reader.texts).toEqual(range(1, 3));
    watched.close();
    await reader.deliveries.return();
  });

  it('stops with a mismatch when the store is put back to an older copy under it', async () => {
    await serve();
    await write(1, 5);
    await logServer!.stop();
    await server.kill('SIGTERM');
    await cp(join(directory, 'store'), join(directory, 'copy'), { recursive: true });
    await server.restart();
    await serve();
    await write(6, 10);
    const reader = new Reader(log, { select: 'all' });
    await reader.untilCaughtUp();
    expect(reader.texts).toEqual(range(1, 10));
    const { checkpoint } = reader;
    await logServer!.stop();
    const stopped = expect(reader.next()).rejects.toMatchObject({ name: 'CheckpointMismatch', checkpoint });
    await server.kill();
    await rm(join(directory, 'store'), { recursive: true });
    await cp(join(directory, 'copy'), join(directory, 'store'), { recursive: true });
    await server.restart();
    await stopped;

    // Written on past the checkpoint: its sequence holds another event.
    await serve();
    await write(11, 20);
    const later = new Reader(log, { select: 'facts', after: checkpoint! });
    await expect(later.next()).rejects.toMatchObject({
      name: 'CheckpointMismatch',
      found: expect.stringMatching(/^event /),
    });
  });

  it('verifies stream, incarnation and event of a checkpoint, but not of one that retention removed', async () => {
    await serve();
    await write(1, 5);
    const reader = new Reader(log, { select: 'all' });
    await reader.untilText('3');
    const after = reader.checkpoint!;
    await reader.deliveries.return();
    for (const wrong of [{ stream: 'SESSIONS_1' }, { incarnation: 'other' }, { event_id: 'other' }, { sequence: 99 }]) {
      const bad = new Reader(log, { select: 'all', after: { ...after, ...wrong } });
      await expect(bad.next()).rejects.toMatchObject({ name: 'CheckpointMismatch' });
    }
    const api = new StreamApi(nc);
    await api.request(`STREAM.MSG.DELETE.${STREAM}`, { seq: after.sequence, no_erase: true });
    const deleted = new Reader(log, { select: 'all', after });
    await deleted.untilCaughtUp();
    expect(deleted.texts).toEqual(['4', '5']);
    await deleted.deliveries.return();
    await api.request(`STREAM.PURGE.${STREAM}`, { seq: after.sequence + 2 });
    const purged = new Reader(log, { select: 'all', after });
    await purged.untilCaughtUp();
    expect(purged.texts).toEqual(['5']);
    await purged.deliveries.return();
  });

  it('passes over deleted events and refuses to pass over stored ones', async () => {
    await serve();
    await write(1, 9);
    const api = new StreamApi(nc);
    const from = new Reader(log, { select: 'all' });
    await from.untilText('3');
    const { sequence } = from.checkpoint!;
    await from.deliveries.return();
    for (const seq of [sequence + 1, sequence + 2])
      await api.request(`STREAM.MSG.DELETE.${STREAM}`, { seq, no_erase: true });
    const reader = new Reader(log, { select: 'all' });
    await reader.untilCaughtUp();
    expect(reader.texts).toEqual(['1', '2', '3', '6', '7', '8', '9']);
    await reader.deliveries.return();

    // A server that skips: it is asked to begin three events too late.
    const request = nc.request.bind(nc);
    nc.request = (subject, payload, options) => {
      const text = new TextDecoder().decode(payload as Uint8Array);
      const late = text.replace(/"deliver_policy":"all"/, `"deliver_policy":"by_start_sequence","opt_start_seq":3`);
      return request(subject, subject.includes('CONSUMER.CREATE') ? late : payload, options);
    };
    await expect(new Reader(log, { select: 'all' }).next()).rejects.toBeInstanceOf(SkippedEvents);
  });

  it('waits for a stream that is not there yet', async () => {
    const api = new StreamApi(nc);
    await api.request(`STREAM.DELETE.${STREAM}`);
    const first = Promise.withResolvers<void>();
    const waiting = client({ on_trouble: () => first.resolve() });
    const reader = new Reader(waiting, { select: 'all' });
    const caughtUp = reader.untilCaughtUp();
    await first.promise;
    await service.flush();
    await api.request(`STREAM.CREATE.${STREAM}`, { name: STREAM, subjects: ['sessions.0.>'], storage: 'memory' });
    await caughtUp;
    waiting.close();
    await reader.deliveries.return();
  });
});
