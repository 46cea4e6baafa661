import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { partitionOf } from '@longrein/events';
import type { LogErrorCode, SessionLog } from '@longrein/log';
import { LogServer, SoleLeases } from '@longrein/log/jetstream';
import { availableNatsVersions, startTestNats } from '@longrein/testing';
import { type NatsConnection, headers } from '@nats-io/transport-node';
import { Deployment } from './deployment.js';

const PARTITIONS = 4;

interface Reply {
  readonly error?: { readonly code: LogErrorCode; readonly message: string };
  readonly seq?: number;
  readonly created?: boolean;
}

/** An id that lies in this partition. */
function idIn(partition: number, prefix: string): string {
  for (let i = 0; ; i++) if (partitionOf(`${prefix}${i}`, PARTITIONS) === partition) return `${prefix}${i}`;
}

function input(event_id?: string): object {
  return {
    type: 'input/queued',
    payload: { input_id: 'i', text: 'x', wake: false },
    ...(event_id === undefined ? {} : { event_id }),
  };
}

/** JSON of an object so deep that a recursive walk over it overflows the stack. */
const DEEP = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;

describe.each(availableNatsVersions())('requests of clients that lie, on nats-server $version ($name)', ({ path }) => {
  let deployment: Deployment;
  let log: SessionLog;
  let client: NatsConnection;
  const id = idIn(1, 's');
  beforeAll(async () => {
    deployment = await Deployment.start({ binary: path, partitions: PARTITIONS });
    await deployment.replica();
    log = deployment.as('gateway');
    client = await deployment.nats.connect();
    await log.create(id);
  });
  afterAll(() => deployment.close());

  async function ask(subject: string, body: object | string, header?: Record<string, string>): Promise<Reply> {
    const block = headers();
    for (const [name, value] of Object.entries(header ?? {})) block.set(name, value);
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const reply = await client.request(subject, text, { timeout: 5_000, ...(header ? { headers: block } : {}) });
    return reply.json<Reply>();
  }

  async function refused(
    subject: string,
    body: object | string,
    code: LogErrorCode = 'invalid_event',
  ): Promise<string> {
    const { error } = await ask(subject, body);
    expect(error).toMatchObject({ code });
    return error!.message;
  }

  /** The session still takes appends, and holds exactly its own events. */
  async function isWell(session = id): Promise<void> {
    const { last_seq } = await log.read(session, { from_seq: 0 });
    expect(await log.append(session, { events: [input() as never], since: last_seq })).toMatchObject({
      seq: last_seq + 1,
    });
  }

  it.each([
    ['a wildcard', '*'],
    ['every subject', '>'],
    ["the partition's own", '$partition'],
    ['two tokens', `${id}.fact`],
    ['no text', 7],
    ['nothing', undefined],
  ])('reads no session named by %s', async (_, session_id) => {
    const message = await refused('log.sessions.1.read', { session_id, from_seq: 0 });
    expect(message).toMatch(/session_id must be/);
  });

  it('refuses reads of partitions that are none', async () => {
    expect(await refused('log.sessions.x.read', { session_id: id, from_seq: 0 })).toMatch(/lies in partition/);
    expect(await refused('log.sessions.4.read', { session_id: id, from_seq: 0 })).toMatch(/lies in partition/);
  });

  it('refuses requests for a session on a partition that is not its own', async () => {
    const stranger = idIn(2, 'stranger');
    for (const [operation, body] of [
      ['create', { session_id: stranger }],
      ['append.gateway', { session_id: stranger, events: [input()], since: -1 }],
      ['read', { session_id: stranger, from_seq: 0 }],
      ['fork', { from: id, to: stranger }],
    ] as const) {
      const message = await refused(`log.sessions.1.${operation}`, body);
      expect(message).toMatch(/partition 2/);
    }
    expect(await log.create(stranger)).toMatchObject({ created: true });
    expect(await ask('log.agents.0.create', { agent_id: '$fleet' })).toMatchObject({ created: true });
    await refused('log.agents.1.create', { agent_id: '$fleet' });
  });

  it.each([
    ['the id', `{"session_id":${DEEP},"events":[],"since":0}`],
    ['an event', `{"session_id":"${id}","events":[{"type":${DEEP},"payload":{}}],"since":0}`],
    ['a payload', `{"session_id":"${id}","events":[{"type":"input/queued","payload":${DEEP}}],"since":0}`],
    [
      'the expectation',
      `{"session_id":"${id}","events":[${JSON.stringify(input())}],"since":0,"expect":{"seq":${DEEP}}}`,
    ],
    ['since', `{"session_id":"${id}","events":[${JSON.stringify(input())}],"since":${DEEP}}`],
  ])('says what is wrong when %s is nested without end', async (_, body) => {
    await refused('log.sessions.1.append.gateway', body);
    await isWell();
  });

  it('answers also when what is wrong is long', async () => {
    const key = '\\u0001'.repeat(174_700);
    const body = `{"session_id":"${id}","since":0,"events":[{"type":"input/queued","payload":{"${key}":1}}]}`;
    expect((await refused('log.sessions.1.append.gateway', body)).length).toBeLessThan(2_000);
    await isWell();
  });

  it('refuses a condition of more types than there are', async () => {
    const none_of = Array.from({ length: 50_000 }, (_, i) => `type/${i}`);
    const body = { session_id: id, since: 0, events: [input()], expect: { seq: 0, none_of } };
    expect(await refused('log.sessions.1.append.gateway', body)).toMatch(/none_of/);
  });

  it('keeps out of the stream what is no trace context', async () => {
    const valid = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    for (const traceparent of ['x'.repeat(600_000), 'Nats-Rollup:all', valid]) {
      const { last_seq } = await log.read(id, { from_seq: 0 });
      const body = { session_id: id, events: [input()], since: last_seq };
      expect(await ask('log.sessions.1.append.gateway', body, { traceparent })).toMatchObject({ seq: last_seq + 1 });
      const stored = await client.request(
        '$JS.API.STREAM.MSG.GET.SESSIONS_1',
        JSON.stringify({ last_by_subj: `sessions.1.${id}.>` }),
      );
      const { message } = stored.json<{ message: { hdrs: string } }>();
      expect(Buffer.from(message.hdrs, 'base64').includes('traceparent')).toBe(traceparent === valid);
    }
  });

  it.each([
    'Nats-Rollup:all',
    'Nats-Expected-Stream:OTHER',
    'Nats-Expected-Last-Sequence:1',
    'Nats-Expected-Last-Msg-Id:other',
    'Nats-Expected-Last-Subject-Sequence:1',
    'Nats-Msg-Id:other',
    'Nats-TTL:1',
    'Nats-Batch-Id:1',
    'Nats-Incr:1',
    'Nats-Schedule:1',
    'Lr-Seq:1',
    '%3A',
  ])('takes %s for an event id and nothing else', async (event_id) => {
    const session = idIn(1, `id-${Math.random().toString(36).slice(2)}-`);
    await log.create(session);
    const append = { session_id: session, events: [input(event_id), input(`${event_id}2`)], since: 0 };
    expect(await ask('log.sessions.1.append.gateway', append)).toMatchObject({ seq: 2 });
    expect(await ask('log.sessions.1.append.gateway', append)).toMatchObject({ seq: 2 });
    expect((await log.read(session, { from_seq: 0 })).events.map((event) => event.id).slice(1)).toEqual([
      event_id,
      `${event_id}2`,
    ]);
  });

  it('goes on after requests that want no answer, and after no requests at all', async () => {
    const valid = JSON.stringify({ session_id: id, events: [input('unanswered')], since: 0 });
    for (const body of [valid, '', '[]', 'null', '{', '\u0000', Buffer.from([0xff, 0xfe])]) {
      for (const operation of ['append.gateway', 'append.nobody', 'create', 'fork', 'own', 'read']) {
        client.publish(`log.sessions.1.${operation}`, body);
      }
    }
    expect(await ask('log.sessions.1.append.gateway', valid)).toMatchObject({ seq: expect.any(Number) });
    const ids = (await log.read(id, { from_seq: 0 })).events.map((event) => event.id);
    expect(ids.filter((eventId) => eventId === 'unanswered')).toHaveLength(1);
  });

  it('lets nobody append as a service that is none', async () => {
    for (const service of ['nobody', 'constructor', '__proto__', 'toString', 'LOOP']) {
      await refused(`log.sessions.1.append.${service}`, { session_id: id, events: [input()], since: 0 });
    }
  });
});

it('does not start the log on a server that takes smaller messages than its events', async () => {
  const nats = await startTestNats({ config: 'max_payload: 262144\n' });
  try {
    const server = new LogServer(await nats.connect(), { partitions: 1, leases: new SoleLeases(1) });
    await expect(server.start()).rejects.toThrow(/at most 262144 bytes.*max_payload/);
  } finally {
    await nats.stop();
  }
});
