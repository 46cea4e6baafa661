import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { RunningService } from '@longrein/service';
import { registryConfig, startRegistry } from '@longrein/registry-app';
import { requestJson, serveJson } from '@longrein/service';
import type { NatsConnection } from '@nats-io/transport-node';
import { z } from 'zod';
import { GatewayRig, TOKENS } from './gateway-rig.js';

let rig: GatewayRig;
let nats: NatsConnection;
let url: string;
let count = 0;
const running: RunningService[] = [];

beforeAll(async () => {
  rig = await GatewayRig.start();
  nats = await rig.deployment.nats.connect();
  url = await rig.gateway();
});

afterEach(async () => {
  await rig.disconnect();
  for (const service of running.splice(0)) await service.stop();
});

afterAll(() => rig?.stop());

const fresh = (): string => `svc-${++count}`;

async function approvals(): Promise<RunningService> {
  const service = await rig.approvals();
  running.push(service);
  return service;
}

/** A session whose open turn waits for a verdict on these calls; resolves to the requests' seqs. */
async function parked(agent: string, ...calls: string[]): Promise<number[]> {
  await rig.worker.create(agent);
  await rig.append(agent, [{ type: 'turn/start', payload: { turn_id: 't1', agent, epoch: 0 } }]);
  const loop = rig.deployment.as('loop');
  const seqs: number[] = [];
  for (const call_id of calls) {
    const args = { to: 'production' };
    const call = { type: 'tool/call', payload: { id: call_id, name: 'deploy', args } };
    const { seq: call_seq } = await loop.append(agent, { events: [call], since: -1 });
    const request = { type: 'approval/requested', payload: { call_id, call_seq, name: 'deploy', args } };
    seqs.push((await loop.append(agent, { events: [request], since: -1 })).seq);
  }
  return seqs;
}

const verdicts = async (agent: string): Promise<unknown[]> =>
  (await rig.log(agent)).filter(({ type }) => type === 'approval/resolved').map(({ payload }) => payload);

const http = async (path: string, body?: object): Promise<{ status: number; body: unknown }> => {
  const response = await fetch(`${url}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${TOKENS.all}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
};

describe('verdicts', () => {
  it('WSP-29 lands approve and deny as approval/resolved, a reason only when given', async () => {
    await approvals();
    const agent = fresh();
    const [first, second] = await parked(agent, 'c1', 'c2');
    const client = await rig.open(url, agent);
    client.send({ type: 'approve', call_id: 'c1' });
    client.send({ type: 'deny', call_id: 'c2', reason: 'not today' });
    expect(await client.settled()).toEqual([]);
    expect(await verdicts(agent)).toEqual([
      { call_id: 'c1', request_seq: first, verdict: 'approved' },
      { call_id: 'c2', request_seq: second, verdict: 'denied', reason: 'not today' },
    ]);
  });

  it('takes a verdict over HTTP', async () => {
    await approvals();
    const agent = fresh();
    const [request_seq] = await parked(agent, 'c1');
    const decide = (): ReturnType<typeof http> =>
      http(`/sessions/${agent}/verdicts`, { call_id: 'c1', request_seq, verdict: 'denied', reason: 'no' });
    const first = await decide();
    expect(first).toMatchObject({ status: 202, body: { request_seq, verdict: 'denied' } });
    expect(await decide()).toEqual(first);
    expect(await http(`/sessions/${agent}/verdicts`, { call_id: 'c1', verdict: 'approved' })).toMatchObject({
      status: 409,
      body: { error: { code: 'stale_call' } },
    });
    expect(await verdicts(agent)).toHaveLength(1);
  });

  it('WSP-31 answers stale_call for what was never asked, is decided or closed; nothing is appended', async () => {
    await approvals();
    const agent = fresh();
    const [request_seq] = await parked(agent, 'c1', 'c2');
    const client = await rig.open(url, agent);
    client.send({ type: 'deny', call_id: 'c1' });
    const stale = [
      { type: 'approve', call_id: 'never' },
      { type: 'approve', call_id: 'c1' },
      { type: 'approve', call_id: 'c2', request_seq },
    ];
    for (const frame of stale) {
      client.send(frame);
      expect(await client.next()).toMatchObject({ type: 'error', code: 'stale_call' });
    }
    await rig.append(agent, [{ type: 'turn/end', payload: { turn_id: 't1', status: 'completed' } }]);
    client.send({ type: 'approve', call_id: 'c2' });
    expect(await client.next()).toMatchObject({ code: 'stale_call' });
    expect(await verdicts(agent)).toHaveLength(1);
  });

  it('takes one of two verdicts that race over two gateways', async () => {
    await approvals();
    await approvals();
    const agent = fresh();
    await parked(agent, 'c1');
    const [one, other] = [await rig.open(url, agent), await rig.open(await rig.gateway(), agent, TOKENS.approver)];
    one.send({ type: 'approve', call_id: 'c1' });
    other.send({ type: 'deny', call_id: 'c1' });
    const answers = [...(await one.settled()), ...(await other.settled())];
    expect(answers).toMatchObject([{ code: 'stale_call' }]);
    expect(await verdicts(agent)).toHaveLength(1);
  });

  it('records who decided, by the name of the token', async () => {
    await approvals();
    const agent = fresh();
    await parked(agent, 'c1');
    const client = await rig.open(url, agent, TOKENS.approver);
    client.send({ type: 'approve', call_id: 'c1' });
    expect(await client.settled()).toEqual([]);
    expect(await verdicts(agent)).toMatchObject([{ verdict: 'approved', by: 'on-call' }]);
    client.send({ type: 'inject', text: 'x' });
    expect(await client.next()).toMatchObject({ code: 'unauthorized', message: expect.stringContaining('steer') });
  });

  it('APR-09 lists over NATS what waits, and a client that reconnects sees it in the session', async () => {
    await approvals();
    const agent = fresh();
    const [first] = await parked(agent, 'c1', 'c2');
    await http(`/sessions/${agent}/verdicts`, { call_id: 'c2', verdict: 'denied' });
    const pending = await requestJson(nats, 'approvals.pending', { session_id: agent }, z.unknown());
    expect(pending).toMatchObject({ turn_id: 't1', pending: [{ call_id: 'c1', request_seq: first }] });
    expect((await http(`/sessions/${agent}`)).body).toMatchObject({
      status: 'waiting_approval',
      pending_approvals: [{ call_id: 'c1', request_seq: first, args: { to: 'production' } }],
    });
  });
});

describe('services that are not there', () => {
  it('WSP-30 answers unsupported without the service, unavailable where it is deployed or was once heard', async () => {
    const agent = fresh();
    await parked(agent, 'c1');
    const client = await rig.open(await rig.gateway(), agent);
    const ask = async (frame: object): Promise<unknown> => {
      client.send(frame);
      return (await client.next())['code'];
    };
    expect(await ask({ type: 'approve', call_id: 'c1' })).toBe('unsupported');
    expect(await ask({ type: 'deny', call_id: 'c1', reason: 'no' })).toBe('unsupported');
    expect(await ask({ type: 'set_policy', patterns: ['*'] })).toBe('unsupported');
    const service = await rig.approvals();
    expect(await ask({ type: 'approve', call_id: 'never' })).toBe('stale_call');
    await service.stop();
    expect(await ask({ type: 'approve', call_id: 'c1' })).toBe('unavailable');

    const sure = await rig.open(await rig.gateway({ LONGREIN_DEPLOYED: 'approvals,policy' }), agent);
    sure.send({ type: 'approve', call_id: 'c1' });
    expect(await sure.next()).toMatchObject({ code: 'unavailable' });
    sure.send({ type: 'set_policy', patterns: [] });
    expect(await sure.next()).toMatchObject({ code: 'unavailable' });
    expect(await verdicts(agent)).toEqual([]);
  });

  it('WSP-33, WSP-34 hands policies of up to 128 patterns of up to 256 characters to the policy service, no others', async () => {
    const agent = fresh();
    const client = await rig.open(url, agent);
    const asked: unknown[] = [];
    const policy = serveJson(nats, 'policy.set', z.unknown(), async (request) => void asked.push(request));
    const largest = Array.from({ length: 128 }, () => 'p'.repeat(256));
    for (const patterns of ['*', [1], [...largest, 'one more'], ['p'.repeat(257)], ['\ud800']]) {
      client.send({ type: 'set_policy', patterns });
      expect(await client.next()).toMatchObject({ code: 'bad_frame' });
    }
    client.send({ type: 'set_policy', patterns: largest });
    expect(await client.settled()).toEqual([]);
    expect(asked).toEqual([{ session_id: agent, patterns: largest }]);
    await policy.stop();
  });
});

describe('the fleet', () => {
  const registry = async (): Promise<void> => {
    const { http: _, ...config } = registryConfig.parse(rig.environment);
    running.push(await startRegistry(config));
  };

  it('lists the agents that a token covers, each with the status its log says', async () => {
    expect(await http('/agents')).toMatchObject({ status: 501, body: { error: { code: 'unsupported' } } });
    await registry();
    const [mine, team] = [fresh(), `team-${fresh()}`];
    for (const agent_id of [mine, team]) await requestJson(nats, 'registry.spawn', { agent_id }, z.unknown());
    const statuses = async (token: string): Promise<Record<string, string>> => {
      const response = await fetch(`${url}/agents`, { headers: { authorization: `Bearer ${token}` } });
      const { agents } = (await response.json()) as { agents: { agent_id: string; status: string }[] };
      return Object.fromEntries(agents.map(({ agent_id, status }) => [agent_id, status]));
    };
    expect(await statuses(TOKENS.all)).toEqual({ [mine]: 'idle', [team]: 'idle' });
    expect(await statuses(TOKENS.team)).toEqual({ [team]: 'idle' });
    const start = { type: 'turn/start', payload: { turn_id: 't1', agent: mine, epoch: 0 } };
    const loop = rig.deployment.as('loop');
    const append = (type: string, payload: object) => loop.append(mine, { events: [{ type, payload }], since: -1 });
    await loop.append(mine, { events: [start], since: -1 });
    expect(await statuses(TOKENS.reader)).toMatchObject({ [mine]: 'running' });
    const { seq: call_seq } = await append('tool/call', { id: 'c1', name: 'deploy', args: {} });
    await append('approval/requested', { call_id: 'c1', call_seq, name: 'deploy', args: {} });
    expect((await http(`/agents/${mine}`)).body).toMatchObject({ agent_id: mine, status: 'waiting_approval' });
    await append('turn/stalled', { turn_id: 't1', epoch: 0, reason: 'five deaths' });
    expect((await http(`/sessions/${mine}`)).body).toMatchObject({ status: 'stalled' });
    expect(await statuses(TOKENS.all)).toMatchObject({ [mine]: 'stalled' });
    expect((await http(`/sessions/${mine}/cancel`, {})).status).toBe(202);
    expect(await statuses(TOKENS.all)).toMatchObject({ [mine]: 'stopping' });
    expect(await http('/agents/nobody')).toMatchObject({ status: 404, body: { error: { code: 'agent_not_found' } } });
    const stranger = await fetch(`${url}/agents`, { headers: { authorization: 'Bearer token-of-nothing' } });
    expect(stranger.status).toBe(401);
  });

  it('says that the registry refused, and why, instead of sending the client around in circles', async () => {
    await registry();
    const agent = fresh();
    await requestJson(nats, 'registry.spawn', { agent_id: agent }, z.unknown());
    await requestJson(nats, 'registry.dispose', { agent_id: agent }, z.unknown());
    const client = await rig.open(url, agent);
    client.send({ type: 'inject', text: 'are you there?', wake: true });
    expect(await client.next()).toMatchObject({ code: 'refused', message: expect.stringContaining('agent_not_found') });
    expect(await http(`/sessions/${agent}/inputs`, { text: 'hello?' })).toMatchObject({
      status: 409,
      body: { error: { code: 'refused' } },
    });
    expect((await rig.log(agent)).map(({ type }) => type)).not.toContain('input/queued');
  });
});
