import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Scrubber } from '@longrein/log';
import { LogClient } from '@longrein/log/client';
import { KvPartitionLeases, LogServer, provision } from '@longrein/log/jetstream';
import { requestJson, type RunningService } from '@longrein/service';
import { withNats } from '@longrein/testing';
import type { NatsConnection } from '@nats-io/transport-node';
import { z } from 'zod';
import { startRegistry } from './index.js';

const PARTITIONS = 2;
const server = withNats();
const running: RunningService[] = [];

let client: NatsConnection;
let log: LogServer;

beforeAll(async () => {
  const nats = await server.connect();
  client = await server.connect();
  await provision(nats, { partitions: PARTITIONS });
  log = new LogServer(nats, {
    partitions: PARTITIONS,
    scrubber: new Scrubber([]),
    leases: new KvPartitionLeases(nats, { scope: 'log', replica: 'one', partitions: PARTITIONS }),
  });
  await log.start();
});

afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.stop()));
});

afterAll(async () => {
  await log.stop();
});

const TOKEN = 'an-operator-token-of-the-test';

async function registry(maxAgents: number, partitions = PARTITIONS, token?: string): Promise<RunningService> {
  const service = await startRegistry({
    nats: { servers: [server.url] },
    http: { host: '127.0.0.1', port: 0 },
    log: { level: 'silent', format: 'json' },
    partitions,
    max_agents: maxAgents,
    ...(token !== undefined && { operator_token: token }),
  });
  running.push(service);
  return service;
}

const ask = (command: string, body: object) =>
  requestJson(client, `registry.${command}`, body, z.looseObject({}), { timeout_ms: 20_000 });

async function http(service: RunningService, method: string, path: string, body?: object, token = TOKEN) {
  const authorization = { authorization: `Bearer ${token}` };
  const response = await fetch(`${service.url}/${path}`, {
    method,
    headers: { ...authorization, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

describe('registry', () => {
  it('REG-03 keeps the cap exact over three replicas that spawn at the same time', async () => {
    await Promise.all([registry(6), registry(6), registry(6)]);
    const spawns = await Promise.allSettled(
      Array.from({ length: 18 }, (_, i) => ask('spawn', { agent_id: `cap-${i}`, spec: {} })),
    );
    const refused = spawns.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
    expect(spawns.length - refused.length).toBe(6);
    for (const { reason } of refused) expect(reason).toMatchObject({ code: 'agent_cap_exceeded' });
    const { agents } = await ask('list', {});
    expect(agents).toHaveLength(6);
    for (const { agent_id } of agents as { agent_id: string }[]) await ask('dispose', { agent_id });
    expect((await ask('list', {})).agents).toEqual([]);
  });

  it('answers every command over NATS with typed errors', async () => {
    await registry(8);
    await expect(ask('spawn', { agent_id: 'a.b', spec: {} })).rejects.toMatchObject({ code: 'bad_request' });
    await expect(ask('spawn', { agent_id: 'a', spec: { driver: 'x' } })).rejects.toMatchObject({ code: 'bad_request' });
    const agent = await ask('spawn', { agent_id: 'nats', session_id: 's-nats', spec: { system_prompt: 'x' } });
    expect(agent).toMatchObject({ agent_id: 'nats', session_id: 's-nats', status: 'idle' });
    await expect(ask('spawn', { agent_id: 'nats', spec: {} })).rejects.toMatchObject({ code: 'agent_exists' });
    await expect(ask('get', { agent_id: 'nats' })).resolves.toEqual({ agent });
    await expect(ask('get', { agent_id: 'nobody' })).resolves.toEqual({ agent: null });
    await expect(ask('for_session', { session_id: 's-nats' })).resolves.toEqual({ agent });
    const input = { session_id: 's-nats', input_id: 'i1', text: 'hello' };
    const first = await ask('inject', input);
    await expect(ask('inject', input)).resolves.toEqual(first);
    await expect(ask('inject', { ...input, session_id: 'nobody' })).rejects.toMatchObject({ code: 'not_configured' });
    await expect(ask('dispose', { agent_id: 'nats' })).rejects.toMatchObject({ code: 'agent_busy' });
    await expect(ask('dispose', { agent_id: 'nobody' })).rejects.toMatchObject({ code: 'agent_not_found' });
  });

  it('takes commands over HTTP from the operator only, and from nobody where no token is set', async () => {
    const guarded = await registry(8, PARTITIONS, TOKEN);
    await expect(http(guarded, 'POST', 'agents', { agent_id: 'w', spec: {} }, 'not-the-token')).resolves.toMatchObject({
      status: 401,
      body: { error: { code: 'unauthorized' } },
    });
    const closed = await registry(8);
    await expect(http(closed, 'GET', 'agents')).resolves.toMatchObject({ status: 404 });
  });

  it('answers the same over HTTP', async () => {
    const service = await registry(8, PARTITIONS, TOKEN);
    const spawned = await http(service, 'POST', 'agents', { agent_id: 'web', spec: {} });
    expect(spawned).toMatchObject({ status: 201, body: { agent_id: 'web', session_id: 'web' } });
    await expect(http(service, 'POST', 'agents', { agent_id: 'web' })).resolves.toMatchObject({
      status: 409,
      body: { error: { code: 'agent_exists' } },
    });
    await expect(http(service, 'POST', 'agents', { agent_id: 'a.b' })).resolves.toMatchObject({ status: 400 });
    await expect(http(service, 'GET', 'agents/web')).resolves.toEqual({ status: 200, body: spawned.body });
    await expect(http(service, 'GET', 'agents/none')).resolves.toMatchObject({ status: 404 });
    await expect(http(service, 'GET', 'sessions/web/agent')).resolves.toMatchObject({ body: { agent: spawned.body } });
    await expect(http(service, 'DELETE', 'agents/web')).resolves.toMatchObject({ status: 200 });
    await expect(http(service, 'GET', 'sessions/web/agent')).resolves.toEqual({ status: 200, body: { agent: null } });
  });

  it('promotes what came too late for a turn, once, whichever replica sees its end', async () => {
    await Promise.all([registry(8), registry(8)]);
    await ask('spawn', { agent_id: 'late', spec: {} });
    const loop = new LogClient(client, { service: 'loop', partitions: PARTITIONS });
    const append = (type: string, payload: object) => loop.append('late', { events: [{ type, payload }], since: -1 });
    await ask('inject', { session_id: 'late', input_id: 'i1', text: 'first' });
    await append('turn/start', { turn_id: 'i1', agent: 'late', input_id: 'i1', epoch: 0 });
    await append('user/message', { input_id: 'i1', text: 'first' });
    await ask('inject', { session_id: 'late', input_id: 'i2', text: 'second' });
    const following = new AbortController();
    const { seq } = await append('turn/end', { turn_id: 'i1', status: 'completed' });
    const after = [];
    for await (const event of loop.follow('late', { from_seq: seq + 1, signal: following.signal })) {
      after.push(event);
      following.abort();
    }
    expect(after).toMatchObject([{ type: 'input/queued', payload: { text: 'second', grant: { promotes: 'i2' } } }]);
    await expect(ask('get', { agent_id: 'late' })).resolves.toMatchObject({ agent: { status: 'idle' } });
  });

  it('refuses to run with another partition count than the deployment has', async () => {
    await expect(registry(8, PARTITIONS + 1)).rejects.toThrow(/LONGREIN_PARTITIONS=2/);
  });
});
