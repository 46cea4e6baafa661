import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { availableNatsVersions, resolveTestNatsServer, startNatsServer, type NatsServer } from '@longrein/nats-server';
import type { Msg, NatsConnection, Subscription } from '@nats-io/nats-core';
import { connect } from '@nats-io/transport-node';
import { ToolRegistry, checkDefinition } from '../core/index.js';
import { callKey, type ToolCall } from '../port/index.js';
import { NatsToolExecutor } from './nats-tool-executor.js';

const atHand = availableNatsVersions();
const versions = atHand.length > 0 ? atHand : [await resolveTestNatsServer()];
const call = (more: Partial<ToolCall> = {}): ToolCall => ({
  session_id: 's1',
  turn_id: 't1',
  call_id: 'c1',
  call_seq: 7,
  name: 'web__fetch',
  args: { url: 'x' },
  key: callKey('s1', 7),
  attempt: 1,
  epoch: 3,
  ...more,
});

describe.each(versions)('NatsToolExecutor on nats-server $version', ({ path }) => {
  let server: NatsServer;
  let nc: NatsConnection;
  let subscription: Subscription | undefined;

  beforeAll(async () => {
    server = await startNatsServer({ binary: path });
    nc = await connect({ servers: server.url });
  });

  afterEach(() => subscription?.unsubscribe());

  afterAll(async () => {
    await nc.close();
    await server.stop();
  });

  function executor(timeoutMs = 10_000, maxResultBytes?: number): NatsToolExecutor {
    const registry = new ToolRegistry();
    const input_schema = { type: 'object', properties: { url: { type: 'string' } } };
    registry.put(
      'web.fetch',
      checkDefinition('web', 'fetch', { name: 'fetch', description: 'gets', input_schema, timeout_ms: timeoutMs }),
    );
    return new NatsToolExecutor(nc, registry, { absenceMs: 0, maxResultBytes });
  }

  const answer = (reply: (message: Msg) => void): void => {
    subscription = nc.subscribe('tools.web.fetch.call', { callback: (_error, message) => reply(message) });
  };

  it('brings the call to the process and its content back', async () => {
    const requests: unknown[] = [];
    answer((message) => {
      requests.push(message.json());
      message.respond(JSON.stringify({ content: { ok: true } }));
    });
    const before = Date.now();
    expect(await executor().execute(call({ attempt: 2 }))).toEqual({ content: { ok: true }, error: null });
    expect(requests).toEqual([{ ...call({ attempt: 2 }), not_after: expect.any(String) }]);
    const notAfter = Date.parse((requests[0] as { not_after: string }).not_after);
    expect(notAfter).toBeGreaterThanOrEqual(before + 10_000);
    expect(notAfter).toBeLessThanOrEqual(Date.now() + 10_000);
  });

  it.each([
    ['an error', '{"error":"404"}', '404'],
    ['text that is no JSON', 'Traceback (most recent call last)', 'not JSON: Traceback'],
    ['JSON that is no result', '{"result":1}', 'not a result: {"result":1}'],
    ['nothing', '', 'not JSON'],
    ['bytes that are no text', Uint8Array.of(0xff, 0xfe), 'not UTF-8'],
    ['text that cannot be stored', '{"content":"\\ud800"}', 'cannot be stored'],
    [
      'too much',
      JSON.stringify({ content: 'x'.repeat(300_000) }),
      'too large to store: 300002 bytes, the limit is 262144',
    ],
  ])('gives an error result when the process answers %s', async (_what, reply, text) => {
    answer((message) => message.respond(reply));
    expect(await executor().execute(call())).toEqual({ content: null, error: expect.stringContaining(text) });
  });

  it('TLP-04: says when the tool is not registered', async () => {
    expect((await executor().execute(call({ name: 'fetch' }))).error).toBe('No tool named "fetch" is registered.');
  });

  it('says when no process answers, and that the tool has not run', async () => {
    expect((await executor().execute(call())).error).toBe(
      'No process answers for web__fetch right now. It has not run.',
    );
  });

  it('waits for a process that is just restarting', async () => {
    const registry = new ToolRegistry();
    registry.put(
      'web.fetch',
      checkDefinition('web', 'fetch', { name: 'fetch', description: 'gets', input_schema: { type: 'object' } }),
    );
    const patient = new NatsToolExecutor(nc, registry, { absenceMs: 30_000 });
    const outcome = patient.execute(call());
    await nc.flush();
    answer((message) => message.respond('{"content":"back"}'));
    expect(await outcome).toEqual({ content: 'back', error: null });
  });

  it('says after how long it gave up, and that the tool may have run', async () => {
    answer(() => undefined);
    expect((await executor(50).execute(call())).error).toBe(
      'web__fetch timed out after 50 ms. It may have run, or may still be running.',
    );
  });

  it('does not send arguments that do not fit', async () => {
    let calls = 0;
    answer(() => (calls += 1));
    expect((await executor().execute(call({ args: { url: 5 } }))).error).toContain('/url must be string');
    expect((await executor().execute(call({ args: { url: 'x'.repeat(2_000_000) } }))).error).toContain('Send smaller');
    await nc.flush();
    expect(calls).toBe(0);
  });

  it('rejects with the reason after abort and leaves nothing behind', async () => {
    const abort = new AbortController();
    answer(() => abort.abort(new Error('cancelled')));
    await expect(executor().execute(call(), { signal: abort.signal })).rejects.toThrow('cancelled');
  });

  it('gives an error result when the connection is closed', async () => {
    const closed = await connect({ servers: server.url });
    await closed.close();
    const registry = new ToolRegistry();
    registry.put(
      'web.fetch',
      checkDefinition('web', 'fetch', { name: 'fetch', description: 'gets', input_schema: { type: 'object' } }),
    );
    const outcome = await new NatsToolExecutor(closed, registry).execute(call());
    expect(outcome).toEqual({ content: null, error: expect.stringContaining('The call to web__fetch failed') });
  });

  it.each([
    [true, ['s1/7', 's1/7'], { content: 'done', error: null }],
    [false, ['s1/7'], { content: null, error: expect.stringContaining('may have run') }],
  ])(
    'when the server dies under a call, asks a tool again under the same key only if it is repeatable: %s',
    async (repeatable, keys, outcome) => {
      const own = await startNatsServer({ binary: path });
      const forEver = { servers: own.url, maxReconnectAttempts: -1, reconnectTimeWait: 10 };
      const [caller, process] = await Promise.all([connect(forEver), connect(forEver)]);
      try {
        const asked: string[] = [];
        let restarted: Promise<void> | undefined;
        process.subscribe('tools.web.fetch.call', {
          callback: (_error, message) => {
            asked.push(message.json<ToolCall>().key);
            // The first answer is never given: the server dies with it.
            if (restarted) message.respond('{"content":"done"}');
            else restarted = own.kill().then(() => own.restart());
          },
        });
        await process.flush();
        const registry = new ToolRegistry();
        const input_schema = { type: 'object' };
        const timeout_ms = repeatable ? 60_000 : 3_000;
        const definition = { name: 'fetch', description: 'gets', input_schema, timeout_ms, repeatable };
        registry.put('web.fetch', checkDefinition('web', 'fetch', definition));
        expect(await new NatsToolExecutor(caller, registry).execute(call())).toEqual(outcome);
        expect(asked).toEqual(keys);
        await restarted;
      } finally {
        await Promise.all([caller.close(), process.close()]);
        await own.stop();
      }
    },
  );
});
