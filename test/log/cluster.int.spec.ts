import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { EventEnvelope } from '@longrein/events';
import { LogClient } from '@longrein/log/client';
import { LogServer, type LogServerNotice, SoleLeases, StreamApi, provision } from '@longrein/log/jetstream';
import { availableNatsVersions } from '@longrein/testing';
import { type NatsConnection, connect } from '@nats-io/transport-node';
import { Cluster } from './cluster.js';

const SESSIONS = 16;
const APPENDS = 150;

// Atomic batches, the safe way to write to replicated streams, came with 2.12.
const current = availableNatsVersions().filter(({ version }) => Number(version.split('.')[1]) >= 12);

(current.length > 0 ? describe : describe.skip).each(current)('three replicas on nats-server $version', ({ path }) => {
  let cluster: Cluster;
  const connections: NatsConnection[] = [];
  const connectTo = async (): Promise<NatsConnection> => {
    const options = { reconnectTimeWait: 100, maxReconnectAttempts: -1, pingInterval: 1_000 };
    const connection = await connect({ servers: cluster.urls, ...options });
    connections.push(connection);
    return connection;
  };
  beforeAll(async () => {
    cluster = await Cluster.start(path);
  });
  afterAll(async () => {
    await Promise.all(connections.map((connection) => connection.close()));
    await cluster.stop();
  });

  it('keeps one writer, order and every acknowledged event through a second owner and the death of the leader', async () => {
    const operator = await connectTo();
    await provisionOnceMet(operator);
    expect(await new StreamApi(operator).writeMode('SESSIONS_0')).toBe('atomic');
    const notices: LogServerNotice[][] = [];
    const replica = async (): Promise<void> => {
      const mine: LogServerNotice[] = [];
      notices.push(mine);
      const leases = new SoleLeases(1);
      await new LogServer(await connectTo(), { partitions: 1, leases, onNotice: (n) => mine.push(n) }).start();
    };
    await replica();
    const log = new LogClient(operator, { service: 'gateway', partitions: 1 });
    const sessions = Array.from({ length: SESSIONS }, (_, i) => `s${i}`);
    await Promise.all(sessions.map((id) => log.create(id)));

    const acknowledged = new Map<string, number>();
    let progress: () => void = () => undefined;
    const reached = (count: number): Promise<void> =>
      new Promise((resolve) => {
        progress = () => {
          if (acknowledged.size >= count) resolve();
        };
      });
    const write = async (id: string): Promise<void> => {
      for (let i = 0; i < APPENDS; i++) {
        const event_id = `${id}-${i}`;
        const event = { type: 'input/queued', payload: { input_id: event_id, text: 'x', wake: false }, event_id };
        acknowledged.set(event_id, (await log.append(id, { since: 0, events: [event] }, { deadline_ms: 60_000 })).seq);
        progress();
      }
    };
    const writing = Promise.all(sessions.map(write));
    await reached((SESSIONS * APPENDS) / 4);
    await replica();
    await reached((SESSIONS * APPENDS) / 2);
    const info = await operator.request('$JS.API.STREAM.INFO.SESSIONS_0');
    const { leader } = info.json<{ cluster: { leader: string } }>().cluster;
    await cluster.named(leader).kill();
    await reached((SESSIONS * APPENDS * 3) / 4);
    await cluster.named(leader).restart();
    await writing;

    expect(notices[0]).toContainEqual(
      expect.objectContaining({ event: 'ended', kind: 'sessions', reason: expect.stringContaining('fenced') }),
    );
    expect(notices[1]!.filter(({ event }) => event === 'ended')).toEqual([]);
    for (const id of sessions) {
      const events: EventEnvelope[] = [];
      for (let from: number | null = 0; from !== null;) {
        const page = await log.read(id, { from_seq: from });
        events.push(...page.events);
        from = page.next_seq;
      }
      expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: APPENDS + 1 }, (_, i) => i));
      for (const event of events.slice(1)) expect(acknowledged.get(event.id)).toBe(event.seq);
    }
  }, 120_000);
});

/** The cluster takes requests once it has chosen its leader; until then it answers none. */
async function provisionOnceMet(connection: NatsConnection): Promise<void> {
  for (;;) {
    try {
      return await provision(connection, { partitions: 1, replicas: 3 });
    } catch (error) {
      if (!/timeout|no responders|temporarily unavailable|no suitable peers/i.test((error as Error).message))
        throw error;
    }
  }
}
