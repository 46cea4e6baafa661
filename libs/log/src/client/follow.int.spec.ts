import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type EventEnvelope, liveSubjects, partitionOf } from '@longrein/events';
import { availableNatsVersions, type NatsServer, startNatsServer, TcpProxy } from '@longrein/testing';
import type { NatsConnection } from '@nats-io/nats-core';
import { connect } from '@nats-io/transport-node';
import { LogServer, provision } from '../jetstream/index.js';
import type { LeaseHandlers, PartitionLeases } from '../port/index.js';
import { LiveHub } from './live-hub.js';
import { LogClient } from './log-client.js';

const PARTITIONS = 2;

/** All partitions, for good: one replica is alone here. */
class AllPartitions implements PartitionLeases {
  readonly held = new Set(Array.from({ length: PARTITIONS }, (_, p) => p));
  async start(handlers: LeaseHandlers): Promise<void> {
    for (const partition of this.held) await handlers.acquired(partition);
  }
  async release(): Promise<void> {}
  async stop(): Promise<void> {}
}

const input = (n: number): { type: string; payload: object } => ({
  type: 'input/queued',
  payload: { input_id: `i${n}`, text: `text ${n}`, wake: false },
});

async function take(
  events: AsyncIterable<EventEnvelope>,
  until: (event: EventEnvelope) => boolean,
): Promise<EventEnvelope[]> {
  const taken: EventEnvelope[] = [];
  for await (const event of events) {
    taken.push(event);
    if (until(event)) break;
  }
  return taken;
}

const seqs = (events: readonly EventEnvelope[]): number[] => events.map(({ seq }) => seq);
const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i);

describe.each(availableNatsVersions())('follow on NATS $version', ({ path }) => {
  let server: NatsServer;
  let nc: NatsConnection;
  let service: NatsConnection;
  let logServer: LogServer;
  let log: LogClient;
  let id: string;
  let counter = 0;

  beforeAll(async () => {
    server = await startNatsServer({ binary: path });
    service = await connect({ servers: server.url });
    await provision(service, { partitions: PARTITIONS });
    logServer = new LogServer(service, { partitions: PARTITIONS, leases: new AllPartitions() });
    await logServer.start();
    nc = await connect({ servers: server.url });
    log = new LogClient(nc, { service: 'gateway', partitions: PARTITIONS });
  });
  afterAll(async () => {
    log?.close();
    await nc?.close();
    await logServer?.stop();
    await service?.close();
    await server?.stop();
  });
  beforeEach(async () => {
    id = `s${++counter}`;
    await log.create(id);
  });

  async function write(count: number, from = 1): Promise<void> {
    await Promise.all(range(from, from + count - 1).map((n) => log.append(id, { since: -1, events: [input(n)] })));
  }

  const stored = (): Promise<EventEnvelope[]> => take(log.readAll(id, { from_seq: 0 }), () => false);

  it('replays, then tails, in order (LOG-13)', async () => {
    await write(20);
    const following = take(log.follow(id, { from_seq: 5 }), ({ seq }) => seq === 60);
    await write(40, 21);
    const seen = await following;
    expect(seqs(seen)).toEqual(range(5, 60));
    expect(seen).toEqual((await stored()).slice(5));
  });

  it('reads through pages, the next one being fetched ahead', async () => {
    await write(50);
    const events = await take(log.readAll(id, { from_seq: 3, limit: 7 }), () => false);
    expect(seqs(events)).toEqual(range(3, 50));
  });

  it('waits for a seq that does not exist yet, and delivers nothing before it', async () => {
    const following = take(log.follow(id, { from_seq: 4 }), () => true);
    await write(6);
    expect(seqs(await following)).toEqual([4]);
  });

  it('refuses an unknown session and ends with its signal', async () => {
    await expect(take(log.follow('nobody', { from_seq: 0 }), () => false)).rejects.toMatchObject({
      code: 'unknown_session',
    });
    const abort = new AbortController();
    const seen: EventEnvelope[] = [];
    for await (const event of log.follow(id, { from_seq: 0, signal: abort.signal })) {
      seen.push(event);
      abort.abort();
    }
    expect(seqs(seen)).toEqual([0]);
  });

  it('has one subscription for any number of followers of a session', async () => {
    const hub = LiveHub.of(nc);
    const before = hub.subscriptions;
    const followers = range(1, 5).map(() => log.follow(id, { from_seq: 0 }));
    await Promise.all(followers.map((follower) => follower.next()));
    expect(hub.subscriptions).toBe(before + 1);
    await Promise.all(followers.slice(1).map((follower) => follower.return()));
    expect(hub.subscriptions).toBe(before + 1);
    await write(1);
    await expect(followers[0]!.next()).resolves.toMatchObject({ value: { seq: 1 } });
    await followers[0]!.return();
    expect(hub.subscriptions).toBe(before);
  });

  it('drops what its buffer cannot hold and reads it later', async () => {
    const small = new LogClient(nc, { service: 'gateway', partitions: PARTITIONS, follow: { buffered_events: 4 } });
    const follower = small.follow(id, { from_seq: 0 });
    await follower.next();
    await write(100);
    const rest = await take(follower, ({ seq }) => seq === 100);
    expect(seqs(rest)).toEqual(range(1, 100));
    small.close();
  });

  it('fills holes by reading and ignores what comes twice or is no event', async () => {
    const hub = LiveHub.of(nc);
    const attach = hub.attach.bind(hub);
    let lost = 0;
    hub.attach = (subject, listener) =>
      attach(subject, {
        ...listener,
        stored(event, bytes) {
          if (event.seq % 3 === 1) lost++;
          else listener.stored(event, bytes);
        },
      });
    try {
      const follower = log.follow(id, { from_seq: 0 });
      const first = (await follower.next()).value!;
      const subject = liveSubjects('sessions', partitionOf(id, PARTITIONS), id).replace('>', 'fact.input');
      const following = take(follower, ({ seq }) => seq === 30);
      for (const n of range(1, 30)) {
        await write(1, n);
        nc.publish(subject, JSON.stringify(first));
        nc.publish(subject, 'garbage');
      }
      expect(seqs(await following)).toEqual(range(1, 30));
      expect(lost).toBe(10);
    } finally {
      hub.attach = attach;
    }
  });

  it('finds an event whose live message was lost, without another event behind it', async () => {
    const deaf = new LogClient(nc, {
      service: 'gateway',
      partitions: PARTITIONS,
      follow: { first_recheck_ms: 50, longest_recheck_ms: 50 },
    });
    const hub = LiveHub.of(nc);
    const attach = hub.attach.bind(hub);
    hub.attach = () => () => undefined;
    try {
      const follower = deaf.follow(id, { from_seq: 0 });
      await follower.next();
      const next = follower.next();
      await write(1);
      expect((await next).value).toMatchObject({ seq: 1 });
      await follower.return();
    } finally {
      hub.attach = attach;
      deaf.close();
    }
  });

  it('goes on with live events while the log service is away', async () => {
    const deaf = new LogClient(nc, {
      service: 'gateway',
      partitions: PARTITIONS,
      follow: { first_recheck_ms: 10 },
      retry: { deadline_ms: 60_000 },
    });
    const follower = deaf.follow(id, { from_seq: 0 });
    await follower.next();
    const event = (await stored())[0]!;
    await logServer.stop();
    const subject = liveSubjects('sessions', partitionOf(id, PARTITIONS), id).replace('>', 'fact.input');
    for (const seq of range(1, 50)) {
      const next = follower.next();
      service.publish(subject, JSON.stringify({ ...event, seq }));
      expect((await next).value).toMatchObject({ seq });
    }
    await follower.return();
    deaf.close();
    logServer = new LogServer(service, { partitions: PARTITIONS, leases: new AllPartitions() });
    await logServer.start();
  });

  it('sees the log exactly although its connection is cut 50 times while a writer appends (complaint 7)', async () => {
    const cuts = 50;
    const proxy = await TcpProxy.start({ target: server.port });
    const cutNc = await connect({
      servers: proxy.url,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 1,
      reconnectJitter: 1,
    });
    const follower = new LogClient(cutNc, {
      service: 'gateway',
      partitions: PARTITIONS,
      retry: { try_timeout_ms: 200 },
    });
    const statuses = cutNc.status()[Symbol.asyncIterator]();
    let stopped = false;
    let written = 0;
    let total = Infinity;
    const writing = (async () => {
      while (!stopped) await write(5, written + 1).then(() => (written += 5));
    })();
    const seen: EventEnvelope[] = [];
    const abort = new AbortController();
    const following = (async () => {
      for await (const event of follower.follow(id, { from_seq: 0, signal: abort.signal })) {
        seen.push(event);
        if (seen.length === total) abort.abort();
      }
    })();
    for (let cut = 0; cut < cuts; cut++) {
      // A random share of what is in flight is lost: the cut comes after so many more events, or in the middle of a replay.
      const target = seen.length + Math.floor(Math.random() * 20);
      while (seen.length < target && Math.random() > 0.02) await new Promise((resolve) => setImmediate(resolve));
      proxy.cut();
      for (;;) {
        const { value: status } = await statuses.next();
        if (status?.type === 'reconnect') break;
      }
    }
    stopped = true;
    await writing;
    // Seq 0, what was written, and one event more that comes when the number is known.
    total = written + 2;
    await log.append(id, { since: -1, events: [input(0)] });
    await following;
    const truth = await stored();
    expect(seqs(seen)).toEqual(range(0, truth.length - 1));
    expect(seen).toEqual(truth);
    follower.close();
    await cutNc.close();
    await proxy.stop();
  });
});
