import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { EventEnvelope } from '@longrein/events';
import { LogClient } from '@longrein/log/client';
import { KvPartitionLeases, LogServer, provision } from '@longrein/log/jetstream';
import { freePort, withNats } from '@longrein/testing';
import { EXIT } from '../errors.js';
import { run } from '../run.js';

const partitions = 2;
const server = withNats();
let log: LogServer;
let loop: KvPartitionLeases;
let client: LogClient;
const told: string[] = [];

beforeAll(async () => {
  const nats = await server.connect();
  await provision(nats, { partitions });
  log = new LogServer(nats, {
    partitions,
    leases: new KvPartitionLeases(nats, { scope: 'log', replica: 'log-1', partitions }),
  });
  await log.start();
  client = new LogClient(nats, { service: 'loop', partitions });
  loop = new KvPartitionLeases(nats, { scope: 'loop', replica: 'loop-1', partitions });
  await loop.start({
    acquired: async (partition) => {
      const { epoch } = await client.own(partition, { scope: 'loop', owner: 'loop-1' });
      told.push(`${partition} at ${epoch}`);
    },
    lost: async (partition) => void told.push(`lost ${partition}`),
  });
});

afterAll(async () => {
  await loop.stop();
  client.close();
  await log.stop();
});

async function longrein(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const printed = { out: '', err: '' };
  const code = await run(args, {
    env: { NATS_URL: server.url },
    cwd: tmpdir(),
    out: (text) => void (printed.out += text),
    err: (text) => void (printed.err += text),
    drained: async () => undefined,
    signal: new AbortController().signal,
  });
  return { code, ...printed };
}

const events = async (id: string): Promise<readonly EventEnvelope[]> => (await client.read(id, { from_seq: 0 })).events;

describe('partition list', () => {
  it('says who has each partition and under which epoch, by lease and by the streams', async () => {
    const { code, out } = await longrein('partition', 'list', '--json');
    expect(code).toBe(EXIT.ok);
    const rows = JSON.parse(out) as { scope: string; partition: number; epoch: number }[];
    expect(rows.filter(({ scope }) => scope === 'log')).toEqual(
      [0, 1].flatMap((partition) =>
        ['sessions', 'agents'].map((kind) => ({ partition, scope: 'log', kind, replica: 'log-1', epoch: 1 })),
      ),
    );
    const owned = rows
      .filter(({ scope }) => scope === 'loop')
      .map(({ partition, epoch }) => `${partition} at ${epoch}`);
    expect(owned.sort()).toEqual(told.filter((line) => line.includes('at')).sort());
    const table = await longrein('partition', 'list');
    expect(table.out.split('\n')[0]).toBe('partition  scope  streams   replica  epoch');
    expect(table.out).toMatch(/^1 {10}loop {3}sessions {2}loop-1 {3}\d+$/m);
  });
});

describe('partition release', () => {
  it('makes the holder give the partition up', async () => {
    const { code, out } = await longrein('partition', 'release', 'loop', '1');
    expect([code, out]).toEqual([EXIT.ok, 'loop-1 gave up partition 1 of loop\n']);
    expect(told).toContain('lost 1');
  });

  it.each([
    [['compactor', '0'], EXIT.usage, /Allowed choices are log, loop, registry/],
    [['loop', '2'], EXIT.usage, /partitions 0 to 1/],
    [['loop', 'x'], EXIT.usage, /It must be a partition: 0, 1, 2/],
    [['registry', '0'], EXIT.unreachable, /nobody holds partition 0 of registry/],
  ])('refuses %j', async (args, code, message) => {
    const answer = await longrein('partition', 'release', ...args);
    expect(answer.code).toBe(code);
    expect(answer.err).toMatch(message);
  });
});

describe('session quarantine', () => {
  it('marks the session in its log, and lifts the mark', async () => {
    await client.create('poison');
    expect(await longrein('session', 'quarantine', 'poison', '--reason', 'eats memory')).toMatchObject({
      code: EXIT.ok,
    });
    expect(await longrein('session', 'quarantine', 'poison', '--lift', '--json')).toMatchObject({
      code: EXIT.ok,
      out: '{"session_id":"poison","type":"session/quarantine_lifted","seq":2}\n',
    });
    expect((await events('poison')).slice(1)).toMatchObject([
      { type: 'session/quarantined', payload: { reason: 'eats memory' } },
      { type: 'session/quarantine_lifted' },
    ]);
  });

  it('knows no session that is not there, and no deployment where no server answers', async () => {
    expect(await longrein('session', 'quarantine', 'nowhere')).toMatchObject({ code: EXIT.unknown_session });
    const nobody = await longrein('partition', 'list', '--nats', `nats://127.0.0.1:${await freePort()}`);
    expect(nobody).toMatchObject({ code: EXIT.unreachable, err: expect.stringMatching(/NATS is out of reach/) });
  });
});
