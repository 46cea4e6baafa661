import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { EventEnvelope } from '@longrein/events';
import { loopConfig, startLoop } from '@longrein/loop-app';
import { type RunningService, requestJson } from '@longrein/service';
import { ModelServer, calling, saying } from '@longrein/testing';
import { type ServedTool, serveTool } from '@longrein/tools/kit';
import type { NatsConnection } from '@nats-io/transport-node';
import { z } from 'zod';
import type { SocketClient } from '../../apps/gateway/src/socket-client.spec-kit.js';
import { GatewayRig, TOKENS } from '../gateway/gateway-rig.js';

let rig: GatewayRig;
let nats: NatsConnection;
let model: ModelServer;
let tool: ServedTool;
let url: string;
let runs: unknown[] = [];
let count = 0;
const services = new Map<string, RunningService>();

/** Starts, or replaces, one of the services. */
const start: Readonly<Record<'loop' | 'approvals' | 'gateway', () => Promise<RunningService>>> = {
  loop: () => {
    const { http: _, ...config } = loopConfig.parse({
      ...rig.environment,
      LONGREIN_MODEL: 'openai/scripted',
      LONGREIN_LEASE_TTL_MS: '1000',
      OPENAI_BASE_URL: model.openAiUrl,
    });
    return startLoop(config);
  },
  approvals: () => rig.approvals(),
  gateway: async () => {
    const gateway = await rig.replica();
    url = gateway.url!;
    return gateway;
  },
};

async function restart(name: keyof typeof start): Promise<void> {
  await services.get(name)?.stop();
  services.set(name, await start[name]());
}

beforeAll(async () => {
  rig = await GatewayRig.start();
  nats = await rig.deployment.nats.connect();
  model = await ModelServer.start();
  tool = await serveTool({
    nats,
    name: 'deploy',
    description: 'Deploys.',
    approval: 'always',
    input_schema: z.object({ to: z.string() }),
    handler: (args) => {
      runs.push(args);
      return 'deployed';
    },
  });
  for (const name of ['loop', 'approvals', 'gateway'] as const) await restart(name);
});

beforeEach(() => {
  runs = [];
});

afterEach(() => rig.disconnect());

afterAll(async () => {
  for (const service of services.values()) await service.stop();
  await tool?.stop();
  await model?.stop();
  await rig?.stop();
});

/** Follows a connection up to the first event of a type. */
async function until(client: SocketClient, type: string): Promise<EventEnvelope[]> {
  const events: EventEnvelope[] = [];
  for (;;) {
    const event = await client.event();
    events.push(event);
    if (event.type === type) return events;
  }
}

/** An agent whose turn waits for a verdict on its call, and the client that woke it; `afterwards` the model says more. */
async function parked(...afterwards: ReturnType<typeof saying>[]): Promise<{ agent: string; client: SocketClient }> {
  const agent = `gated-${++count}`;
  model.enqueue(calling('deploy', { to: 'production' }), ...afterwards);
  const client = await rig.open(url, agent);
  client.send({ type: 'subscribe', from_seq: 0 });
  client.send({ type: 'inject', text: 'ship it', wake: true });
  const requested = (await until(client, 'approval/requested')).at(-1)!;
  expect(requested.payload).toMatchObject({ name: 'deploy', args: { to: 'production' } });
  return { agent, client };
}

const statusOf = async (agent: string): Promise<unknown> => {
  const response = await fetch(`${url}/sessions/${agent}`, { headers: { authorization: `Bearer ${TOKENS.all}` } });
  return ((await response.json()) as { status: string }).status;
};

const pending = (agent: string) =>
  requestJson(nats, 'approvals.pending', { session_id: agent }, z.looseObject({ pending: z.array(z.looseObject({})) }));

const callId = async (agent: string): Promise<string> => String((await pending(agent)).pending[0]!['call_id']);

const payloads = (events: readonly EventEnvelope[], type: string): unknown[] =>
  events.filter((event) => event.type === type).map(({ payload }) => payload);

describe('a gated call, from the socket to the tool and back', () => {
  it('APR-05, APR-06, WSP-29 parks, reads waiting_approval, runs once when approved, and ends idle', async () => {
    const { agent, client } = await parked(saying('Done.'));
    expect(await statusOf(agent)).toBe('waiting_approval');
    expect(runs).toEqual([]);
    client.send({ type: 'approve', call_id: await callId(agent) });
    const events = await until(client, 'turn/end');
    expect(payloads(events, 'approval/resolved')).toEqual([
      { call_id: expect.any(String), request_seq: expect.any(Number), verdict: 'approved' },
    ]);
    expect(payloads(events, 'tool/result')).toMatchObject([{ content: 'deployed', error: null }]);
    expect(payloads(events, 'turn/end')).toMatchObject([{ status: 'completed' }]);
    expect(runs).toEqual([{ to: 'production' }]);
    expect((await pending(agent)).pending).toEqual([]);
    expect(await statusOf(agent)).toBe('idle');
  });

  it('APR-07 never runs when denied: the model sees an error that names tool and reason, and the turn goes on', async () => {
    const { agent, client } = await parked(saying('Done.'));
    client.send({ type: 'deny', call_id: await callId(agent), reason: 'it is Friday' });
    const events = await until(client, 'turn/end');
    const [result] = payloads(events, 'tool/result') as { error: string }[];
    expect(result!.error).toMatch(/deploy.*it is Friday/s);
    expect(payloads(events, 'turn/end')).toMatchObject([{ status: 'completed' }]);
    expect(runs).toEqual([]);
  });

  it('APR-08 goes on from the fan-out of a verdict that did not come through the socket', async () => {
    const { agent, client } = await parked(saying('Done.'));
    const { pending: waiting } = await pending(agent);
    const { call_id, request_seq } = waiting[0]!;
    await rig.deployment.as('approvals').append(agent, {
      events: [{ type: 'approval/resolved', payload: { call_id, request_seq, verdict: 'approved' } }],
      since: Number(request_seq),
    });
    await until(client, 'turn/end');
    expect(runs).toHaveLength(1);
  });

  it('APR-20, APR-21 is cancelled first and then denied by a cancel; the last reason counts', async () => {
    const { client } = await parked();
    client.send({ type: 'cancel', reason: 'enough' });
    const events = await until(client, 'turn/end');
    const types = events.map(({ type }) => type);
    expect(types.indexOf('turn/cancel_requested')).toBeLessThan(types.indexOf('approval/resolved'));
    expect(payloads(events, 'approval/resolved')).toMatchObject([{ verdict: 'denied' }]);
    expect(payloads(events, 'turn/end')).toMatchObject([{ status: 'cancelled' }]);
    expect(runs).toEqual([]);
  });

  it('APR-17, WSP-23 (complaint 17) stands through 50 restarts and as many lost clients; then it runs once', async () => {
    const { agent, client } = await parked(saying('Done.'));
    const asked = await pending(agent);
    client.kill();
    for (let i = 0; i < 50; i++) {
      const visitor = await rig.open(url, agent);
      visitor.send({ type: 'subscribe', from_seq: 0 });
      await visitor.event();
      if (i % 2 === 0) visitor.kill();
      await restart((['loop', 'approvals', 'gateway'] as const)[i % 3]!);
      visitor.kill();
      expect(await pending(agent)).toEqual(asked);
    }
    expect(await statusOf(agent)).toBe('waiting_approval');
    const before = await rig.log(agent);
    expect(payloads(before, 'approval/requested')).toHaveLength(1);
    expect(payloads(before, 'approval/resolved')).toEqual([]);
    expect(payloads(before, 'turn/cancel_requested')).toEqual([]);

    const back = await rig.open(url, agent);
    back.send({ type: 'subscribe', from_seq: before.at(-1)!.seq + 1 });
    const { call_id, request_seq } = asked.pending[0]!;
    back.send({ type: 'approve', call_id, request_seq });
    await until(back, 'turn/end');
    // An old button, pressed again: the same verdict, and nothing more happens. Another one is stale.
    back.send({ type: 'deny', call_id, request_seq });
    expect(await back.next()).toMatchObject({ code: 'stale_call' });
    const after = await rig.log(agent);
    expect(payloads(after, 'approval/resolved')).toHaveLength(1);
    expect(runs).toEqual([{ to: 'production' }]);
  }, 120_000);
});
