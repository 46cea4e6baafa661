import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type DocumentStore, Scrubber } from '@longrein/log';
import { KvDocumentStore, LogClient } from '@longrein/log/client';
import { KvPartitionLeases, LogServer, provision } from '@longrein/log/jetstream';
import type { RunningService } from '@longrein/service';
import { ModelServer, calling, saying, withNats } from '@longrein/testing';
import { serveTool, type ServedTool } from '@longrein/tools/kit';
import type { NatsConnection } from '@nats-io/transport-node';
import { z } from 'zod';
import { loopConfig, startLoop } from './index.js';
import { violations } from './testing/invariants.js';
import { SessionProbe } from './testing/session-probe.js';

const partitions = 4;
const server = withNats();
const running: RunningService[] = [];
const clients = new Map<string, LogClient>();
let nats: NatsConnection;
let log: LogServer;
let model: ModelServer;
let documents: DocumentStore;
let tool: ServedTool | undefined;

beforeAll(async () => {
  nats = await server.connect();
  await provision(nats, { partitions });
  const leases = new KvPartitionLeases(nats, { scope: 'log', replica: 'one', partitions });
  log = new LogServer(nats, { partitions, scrubber: new Scrubber([]), leases });
  await log.start();
  documents = await KvDocumentStore.open(nats);
  model = await ModelServer.start();
});

afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.stop()));
  await tool?.stop();
  tool = undefined;
  expect(model.rejections).toEqual([]);
});

afterAll(async () => {
  for (const client of clients.values()) client.close();
  await log.stop();
  await model.stop();
});

async function loop(instance: string, more: Readonly<Record<string, string>> = {}): Promise<RunningService> {
  const { http: _, ...config } = loopConfig.parse({
    NATS_URL: server.url,
    LONGREIN_PARTITIONS: String(partitions),
    LONGREIN_INSTANCE: instance,
    LONGREIN_MODEL: 'openai/scripted',
    LONGREIN_LEASE_TTL_MS: '1000',
    OPENAI_BASE_URL: model.openAiUrl,
    LOG_LEVEL: 'silent',
    ...more,
  });
  const service = await startLoop(config);
  running.push(service);
  return service;
}

async function session(id: string): Promise<SessionProbe> {
  const as = (service: ConstructorParameters<typeof LogClient>[1]['service']): LogClient => {
    const client = clients.get(service) ?? new LogClient(nats, { service, partitions });
    clients.set(service, client);
    return client;
  };
  await as('gateway').create(id);
  return new SessionProbe(id, { as, documents });
}

describe('the loop as a service', () => {
  it('streams an answer and calls a tool over NATS, with a model over HTTP', async () => {
    tool = await serveTool({
      nats,
      name: 'add',
      description: 'Adds.',
      input_schema: z.object({ a: z.number(), b: z.number() }),
      handler: ({ a, b }) => a + b,
    });
    await loop('one');
    model.enqueue(calling('add', { a: 1, b: 2 }), saying('It is three.'));
    const probe = await session('sum');
    await probe.inject('1 + 2?');
    await probe.until('turn/end');
    expect(await probe.payloads('turn/end')).toMatchObject([{ status: 'completed' }]);
    expect(await probe.payloads('tool/result')).toMatchObject([{ content: 3, error: null }]);
    expect((await probe.payloads('assistant/chunk')).map(({ text }) => text).join('')).toBe('It is three.');
    expect((await probe.payloads<{ usage?: object }>('step/end')).every(({ usage }) => usage)).toBe(true);
    expect(violations(await probe.events(), { settled: true })).toEqual([]);
  });

  it('hands its turns over when it stops, and another replica goes on', async () => {
    const first = await loop('first');
    model.enqueue({ steps: [{ text: 'one ' }, { wait: 'held' }, { tool_call: { name: 'gone', args: {} } }] });
    model.enqueue(saying('done'));
    const probe = await session('moving');
    await probe.inject('go');
    await probe.until('assistant/chunk');
    await loop('second');
    const stopping = first.stop();
    model.gates.release('held');
    await stopping;
    await probe.until('turn/end');
    expect(await probe.payloads('turn/resumed')).toMatchObject([{ cause: 'handover' }]);
    expect(await probe.payloads('turn/start')).toHaveLength(1);
    expect(violations(await probe.events(), { settled: true })).toEqual([]);
  });

  it('takes its steps past the hooks that the deployment mounted on subjects', async () => {
    const served = [
      nats.subscribe('acme.pre-step', {
        callback: (_, msg) => {
          const { inputs } = msg.json<{ inputs: { input_id: string; text: string }[] }>();
          const rewrite = inputs.map(({ input_id, text }) => ({ input_id, text: `${text}!` }));
          msg.respond(JSON.stringify({ rewrite }));
        },
      }),
      nats.subscribe('acme.request', {
        callback: (_, msg) => void msg.respond(JSON.stringify({ max_tokens: 99, messages: ['ignore me'] })),
      }),
    ];
    await nats.flush();
    await loop('hooked', { LONGREIN_HOOK_PRE_STEP: 'acme.pre-step', LONGREIN_HOOK_REQUEST: 'acme.request' });
    model.enqueue(saying('hello'));
    const probe = await session('hooked');
    await probe.inject('hi');
    await probe.until('turn/end');
    for (const hook of served) hook.unsubscribe();
    expect(await probe.payloads('user/message')).toMatchObject([{ text: 'hi!' }]);
    expect(await probe.payloads('step/start')).toMatchObject([{ parameters: { max_tokens: 99 } }]);
    expect(violations(await probe.events(), { settled: true })).toEqual([]);
  });

  it('spends no more than the deployment lets a session spend', async () => {
    await loop('thrifty', { LONGREIN_SESSION_MAX_TOKENS: '1' });
    model.enqueue(saying('hello'));
    const probe = await session('thrifty');
    await probe.inject('one');
    await probe.until('turn/end');
    await probe.inject('two');
    await probe.until('turn/end', 2);
    expect(await probe.payloads('turn/end')).toMatchObject([
      { status: 'completed' },
      { status: 'failed', reason: expect.stringMatching(/^budget: the session has used \d+ of 1 tokens$/) },
    ]);
  });

  it('holds a step while nobody is behind its hook, and goes on when somebody is', async () => {
    await loop('patient', { LONGREIN_HOOK_PRE_STEP: 'acme.late' });
    model.enqueue(saying('hello'));
    const probe = await session('patient');
    const asked = nats.subscribe('acme.late', { max: 1 });
    await nats.flush();
    await probe.inject('hi');
    // The first time it is asked it answers nonsense: that is no leave to go on.
    for await (const msg of asked) msg.respond('{"rewrite": 1}');
    expect(await probe.types()).toEqual(['session/created', 'input/queued']);
    const late = nats.subscribe('acme.late', { callback: (_, msg) => void msg.respond('{}') });
    await probe.until('turn/end');
    late.unsubscribe();
    expect(await probe.payloads('user/message')).toMatchObject([{ text: 'hi' }]);
  });
});
