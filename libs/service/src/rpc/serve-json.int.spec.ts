import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { withNats } from '@longrein/testing';
import type { NatsConnection } from '@nats-io/transport-node';
import { Registry } from 'prom-client';
import { z } from 'zod';
import { JsonService } from './json-service.js';
import { requestJson } from './request-json.js';
import { type Handler, type JsonServer, serveJson, type ServeOptions } from './serve-json.js';
import { ServiceError } from './service-error.js';

const server = withNats();
const number = z.strictObject({ value: z.number() });

let caller: NatsConnection;
let service: NatsConnection;

beforeEach(async () => {
  caller = await server.connect();
  service = await server.connect();
});

afterEach(async () => {
  await caller.close();
  await service.close();
});

/** Serves, and returns once the server knows. */
async function serve<Schema extends z.ZodType>(
  subject: string,
  schema: Schema,
  handler: Handler<z.output<Schema>>,
  options?: ServeOptions,
): Promise<JsonServer> {
  const endpoint = serveJson(service, subject, schema, handler, options);
  await service.flush();
  return endpoint;
}

const ask = (subject: string, body: unknown) => requestJson(caller, subject, body, z.unknown());

/** A promise and the means to fulfil it. */
function gate(): { open: () => void; passed: Promise<void> } {
  let open = (): void => undefined;
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { open, passed };
}

describe('serveJson and requestJson', () => {
  it('answers with what the handler resolves to and passes the trace on', async () => {
    const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    await serve('math.double', number, async ({ value }, { traceparent }) => ({
      value: value * 2,
      traceparent,
    }));
    const options = { traceparent: trace };
    await expect(requestJson(caller, 'math.double', { value: 4 }, z.unknown(), options)).resolves.toEqual({
      value: 8,
      traceparent: trace,
    });
  });

  it('passes typed refusals on, hides faults, and goes on serving', async () => {
    await serve('math.root', number, async ({ value }) => {
      if (value < 0) throw new ServiceError('negative', 'value must not be negative', { value });
      if (value === 13) throw new Error('secret detail');
      return { value: Math.sqrt(value) };
    });
    await expect(ask('math.root', { value: -1 })).rejects.toMatchObject({ code: 'negative', details: { value: -1 } });
    const fault = ask('math.root', { value: 13 });
    await expect(fault).rejects.toMatchObject({ code: 'internal' });
    await expect(fault).rejects.not.toThrow(/secret/);
    await expect(ask('math.root', { value: 9 })).resolves.toEqual({ value: 3 });
  });

  it('answers bad_request to bytes that are no request, and goes on serving', async () => {
    await serve('math.any', number, async ({ value }) => ({ value }));
    const bad = [Uint8Array.of(0xff, 0xfe), 'not json', '{"value":NaN}', '{"value":"1"}', '[]', ''];
    for (const body of bad) {
      const reply = (await caller.request('math.any', body, { timeout: 2_000 })).json();
      expect(reply).toMatchObject({ error: { code: 'bad_request' } });
    }
    await expect(ask('math.any', { value: 1 })).resolves.toEqual({ value: 1 });
  });

  it('answers too_large instead of nothing when the reply exceeds the limit of the server', async () => {
    await serve('math.big', number, async ({ value }) => 'x'.repeat(value));
    await expect(ask('math.big', { value: 2 * 1024 * 1024 })).rejects.toMatchObject({ code: 'too_large' });
  });

  it('does not send a request that exceeds the limit of the server, and says so', async () => {
    await serve('math.length', z.string(), async (text) => text.length);
    await expect(ask('math.length', 'x'.repeat(2 * 1024 * 1024))).rejects.toMatchObject({ code: 'too_large' });
    await expect(ask('math.length', 'x')).resolves.toBe(1);
  });

  it('says when nobody serves, when nobody answers in time, and when the answer is nonsense', async () => {
    await expect(ask('nobody.home', {})).rejects.toMatchObject({ code: 'unavailable' });
    service.subscribe('slow.home', { callback: () => undefined });
    await service.flush();
    const slow = requestJson(caller, 'slow.home', {}, z.unknown(), { timeout_ms: 20 });
    await expect(slow).rejects.toMatchObject({ code: 'timeout' });
    service.subscribe('odd.home', { callback: (_, message) => void message.respond('<html>') });
    await service.flush();
    await expect(ask('odd.home', {})).rejects.toMatchObject({ code: 'bad_reply' });
    await serve('text.home', z.unknown(), async () => ({ text: 1 }));
    const wrong = requestJson(caller, 'text.home', {}, z.object({ text: z.string() }));
    await expect(wrong).rejects.toMatchObject({ code: 'bad_reply' });
  });

  it('handles no more requests at once than it may, queues some and refuses the rest', async () => {
    const release = gate();
    const full = gate();
    let running = 0;
    let most = 0;
    const handler = async () => {
      most = Math.max(most, ++running);
      if (running === 2) full.open();
      await release.passed;
      running--;
      return {};
    };
    await serve('busy', z.unknown(), handler, { concurrency: 2, backlog: 1 });
    const requests = [ask('busy', 1), ask('busy', 2)];
    await full.passed;
    requests.push(ask('busy', 3));
    await expect(ask('busy', 4)).rejects.toMatchObject({ code: 'overloaded' });
    release.open();
    await expect(Promise.all(requests)).resolves.toEqual([{}, {}, {}]);
    expect(most).toBe(2);
  });

  it('answers what it has when stopped and takes no more', async () => {
    const taken = gate();
    const release = gate();
    const endpoint = await serve('leaving', z.unknown(), async () => {
      taken.open();
      await release.passed;
      return { done: true };
    });
    const last = ask('leaving', {});
    await taken.passed;
    const stopped = endpoint.stop();
    release.open();
    await expect(last).resolves.toEqual({ done: true });
    await stopped;
    await endpoint.stop();
    await expect(ask('leaving', {})).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('stops although its connection is closed', async () => {
    const endpoint = await serve('gone', z.unknown(), async () => ({}));
    await service.close();
    await expect(endpoint.stop()).resolves.toBeUndefined();
  });
});

describe('JsonService', () => {
  it('shares requests among replicas, counts them and shows itself in discovery', async () => {
    const metrics = new Registry();
    const about = { name: 'longrein-test', version: '1.2.3', description: 'for tests' };
    const replicas = [
      new JsonService(service, { ...about, metrics }),
      new JsonService(caller, { ...about, metadata: { instance: 'b' } }),
    ];
    for (const replica of replicas) {
      replica.serve('echo', 'test.echo', number, async ({ value }) => {
        if (value < 0) throw new ServiceError('negative', 'no');
        return { value };
      });
    }
    await Promise.all([service.flush(), caller.flush()]);
    const client = await server.connect();
    for (let value = 0; value < 20; value++) await requestJson(client, 'test.echo', { value }, number);
    await expect(requestJson(client, 'test.echo', { value: -1 }, number)).rejects.toThrow('no');

    const collect = async (subject: string) => {
      const replies: Record<string, unknown>[] = [];
      for await (const reply of await client.requestMany(subject, undefined, {
        maxMessages: 2,
        maxWait: 5_000,
        strategy: 'count',
      })) {
        replies.push(reply.json());
      }
      return replies;
    };
    expect(await collect('$SRV.PING')).toMatchObject(
      Array.from({ length: 2 }, () => ({
        type: 'io.nats.micro.v1.ping_response',
        name: 'longrein-test',
        version: '1.2.3',
      })),
    );
    const infos = await collect('$SRV.INFO.longrein-test');
    expect(infos[0]).toMatchObject({
      type: 'io.nats.micro.v1.info_response',
      description: 'for tests',
      endpoints: [{ name: 'echo', subject: 'test.echo', queue_group: 'longrein-test' }],
    });
    const stats = await collect('$SRV.STATS.longrein-test');
    const endpoints = stats.flatMap(({ endpoints }) => endpoints as { num_requests: number; num_errors: number }[]);
    const sum = (field: 'num_requests' | 'num_errors') => endpoints.reduce((total, one) => total + one[field], 0);
    expect({ requests: sum('num_requests'), errors: sum('num_errors') }).toEqual({ requests: 21, errors: 1 });
    const { id } = infos[0] as { id: string };
    expect((await client.request(`$SRV.PING.longrein-test.${id}`)).json()).toMatchObject({ id });

    await Promise.all(replicas.map((replica) => replica.stop()));
    await Promise.all([service.flush(), caller.flush()]);
    await expect(client.request('$SRV.PING.longrein-test', undefined, { timeout: 1_000 })).rejects.toThrow();
    expect(await metrics.metrics()).toMatch(/longrein_requests_total\{endpoint="echo",code="ok"\}/);
  });
});
