import { rmSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { availableNatsVersions, resolveTestNatsServer, startNatsServer, type NatsServer } from '@longrein/nats-server';
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/nats-core';
import { connect } from '@nats-io/transport-node';
import { z } from 'zod';
import { NatsToolCatalog, NatsToolExecutor } from '../nats/index.js';
import { openToolsBucket } from '../nats/bucket.js';
import { callKey, type ToolCall } from '../port/index.js';
import { serveTool, type ServedTool, type ServeToolOptions } from './serve-tool.js';

const atHand = availableNatsVersions();
const versions = atHand.length > 0 ? atHand : [await resolveTestNatsServer()];
const input_schema = z.object({ n: z.number() });
type Options = ServeToolOptions<typeof input_schema>;

const call = (more: Partial<ToolCall> = {}): ToolCall => ({
  session_id: 's1',
  turn_id: 't1',
  call_id: 'c1',
  call_seq: 7,
  name: 'double',
  args: { n: 2 },
  key: callKey('s1', 7),
  attempt: 1,
  epoch: 3,
  ...more,
});

describe.each(versions)('serveTool on nats-server $version', ({ path }) => {
  let server: NatsServer;
  let nc: NatsConnection;
  const served: ServedTool[] = [];
  const catalogs: NatsToolCatalog[] = [];

  beforeAll(async () => {
    server = await startNatsServer({ binary: path });
    nc = await connect({ servers: server.url, maxReconnectAttempts: -1, reconnectTimeWait: 50 });
  });

  afterEach(async () => {
    for (const tool of served.splice(0)) await tool.stop();
    for (const catalog of catalogs.splice(0)) await catalog.stop();
    // Not deleted: a stream that is deleted and made anew at once can come back with its old messages (seen on 2.15.2).
    await (await jetstreamManager(nc)).streams.purge('KV_LONGREIN_TOOLS');
  });

  afterAll(async () => {
    await nc.close();
    await server.stop();
  });

  async function serve(more: Partial<Options> = {}): Promise<ServedTool> {
    const tool = await serveTool({
      nats: nc,
      name: 'double',
      description: 'doubles a number',
      input_schema,
      handler: ({ n }) => n * 2,
      report: () => undefined,
      ...more,
    });
    served.push(tool);
    return tool;
  }

  async function platform(): Promise<{ catalog: NatsToolCatalog; executor: NatsToolExecutor }> {
    const catalog = await NatsToolCatalog.start(nc);
    catalogs.push(catalog);
    return { catalog, executor: new NatsToolExecutor(nc, catalog, { absenceMs: 0 }) };
  }

  function until(catalog: NatsToolCatalog, holds: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = (): void => {
        if (!holds()) return;
        stop();
        resolve();
      };
      const stop = catalog.onChange(check);
      check();
    });
  }

  it('registers what it is told and answers calls', async () => {
    await serve({ namespace: 'math', concurrency: 'parallel', mutating: false, timeout_ms: 5_000, repeatable: false });
    const { catalog, executor } = await platform();
    expect(catalog.list()).toEqual([
      {
        namespace: 'math',
        visible_name: 'math__double',
        name: 'double',
        description: 'doubles a number',
        input_schema: expect.objectContaining({ type: 'object', required: ['n'] }),
        mutating: false,
        approval: 'never',
        concurrency: 'parallel',
        timeout_ms: 5_000,
        repeatable: false,
      },
    ]);
    expect(await executor.execute(call({ name: 'math__double' }))).toEqual({ content: 4, error: null });
  });

  it('connects by itself when given a URL, and lets go of that connection', async () => {
    const tool = await serve({ nats: server.url });
    const { executor } = await platform();
    expect((await executor.execute(call())).content).toBe(4);
    await tool.stop();
    expect((await executor.execute(call())).error).toContain('No process answers');
    expect(nc.isClosed()).toBe(false);
  });

  it('turns what a handler throws into an error result', async () => {
    await serve({
      handler: () => {
        throw new Error('overflow');
      },
    });
    const { executor } = await platform();
    expect(await executor.execute(call())).toEqual({ content: null, error: 'overflow' });
  });

  it('refuses a lower epoch and an expired call', async () => {
    await serve();
    const { executor } = await platform();
    expect((await executor.execute(call({ epoch: 9 }))).content).toBe(4);
    expect((await executor.execute(call({ epoch: 8 }))).error).toContain('superseded');
    const late = { ...call({ epoch: 9 }), not_after: new Date(0).toISOString() };
    const reply = await nc.request('tools.default.double.call', JSON.stringify(late), { timeout: 5_000 });
    expect(reply.json()).toEqual({ error: expect.stringContaining('It has not run') });
  });

  it('answers a repeated key once, over the wire too', async () => {
    let runs = 0;
    await serve({ dedupe: true, handler: () => (runs += 1) });
    const { executor } = await platform();
    expect((await executor.execute(call())).content).toBe(1);
    expect((await executor.execute(call({ attempt: 2, epoch: 4 }))).content).toBe(1);
    expect((await executor.execute(call({ key: callKey('s1', 8), call_seq: 8, epoch: 4 }))).content).toBe(2);
  });

  it('shares calls between processes of the same tool', async () => {
    const byProcess = [0, 0];
    for (const i of [0, 1]) await serve({ handler: () => (byProcess[i] = (byProcess[i] ?? 0) + 1) });
    const { executor } = await platform();
    const keys = Array.from({ length: 40 }, (_, i) => i);
    await Promise.all(keys.map((i) => executor.execute(call({ key: callKey('s1', i), call_seq: i }))));
    expect(byProcess.reduce((sum, count) => sum + count)).toBe(40);
    expect(Math.min(...byProcess)).toBeGreaterThan(0);
  });

  it('answers the calls it has when it is stopped, and takes no more', async () => {
    const entered = Promise.withResolvers<void>();
    const end = Promise.withResolvers<string>();
    const tool = await serve({
      handler: () => {
        entered.resolve();
        return end.promise;
      },
    });
    const { catalog, executor } = await platform();
    const running = executor.execute(call());
    await entered.promise;
    expect(tool.inFlight).toBe(1);
    const stopped = tool.stop();
    end.resolve('finished');
    await stopped;
    expect(await running).toEqual({ content: 'finished', error: null });
    expect((await executor.execute(call())).error).toContain('No process answers');
    expect(catalog.resolve('double')).toBeDefined();
  });

  it('leaves the list when it is retired', async () => {
    const tool = await serve();
    const { catalog } = await platform();
    await tool.stop({ retire: true });
    await until(catalog, () => catalog.list().length === 0);
    expect(catalog.resolve('double')).toBeUndefined();
  });

  it('registers again when the server has lost its data', async () => {
    await serve();
    await server.kill();
    rmSync(server.storeDir, { recursive: true });
    await server.restart();
    // A catalog that starts now has nothing from before.
    const { catalog, executor } = await platform();
    await until(catalog, () => catalog.resolve('double') !== undefined);
    expect((await executor.execute(call())).content).toBe(4);
  });

  it('registers again when the bucket was made anew, but leaves what others wrote alone', async () => {
    await serve({ checkMs: 20 });
    await (await jetstreamManager(nc)).streams.delete('KV_LONGREIN_TOOLS');
    const { catalog } = await platform();
    await until(catalog, () => catalog.resolve('double') !== undefined);
    const bucket = await openToolsBucket(nc);
    await bucket.delete('default.double');
    await until(catalog, () => catalog.list().length === 0);
    // Checks run one after the other: the second one that is seen proves that the first has decided.
    let looks = 0;
    for await (const request of nc.subscribe('$JS.API.*.GET.KV_LONGREIN_TOOLS.>')) {
      if (request.subject.endsWith('default.double') && (looks += 1) === 2) break;
    }
    expect((await bucket.get('default.double'))?.operation).toBe('DEL');
    expect(catalog.resolve('double')).toBeUndefined();
  });

  it('refuses a definition that no catalog would accept', async () => {
    await expect(serve({ name: 'a.b' })).rejects.toThrow(TypeError);
    await expect(serve({ timeout_ms: 0 })).rejects.toThrow(/timeout_ms/);
    await serve();
  });
});
