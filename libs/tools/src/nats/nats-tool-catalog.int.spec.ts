import { rmSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { availableNatsVersions, resolveTestNatsServer, startNatsServer, type NatsServer } from '@longrein/nats-server';
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/nats-core';
import { connect } from '@nats-io/transport-node';
import type { ToolCatalog } from '../port/index.js';
import { openToolsBucket } from './bucket.js';
import { NatsToolCatalog, type NatsToolCatalogOptions } from './nats-tool-catalog.js';

const atHand = availableNatsVersions();
const versions = atHand.length > 0 ? atHand : [await resolveTestNatsServer()];
const definition = (name: string, description = 'a tool'): string =>
  JSON.stringify({ name, description, input_schema: { type: 'object' } });

/** Resolves as soon as the catalog is in the state asked for. */
function until(catalog: ToolCatalog, holds: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const stop = catalog.onChange(() => check());
    const check = (): void => {
      if (!holds()) return;
      stop();
      resolve();
    };
    check();
  });
}

/** Resolves with the connection's next reconnect. */
async function reconnected(nc: NatsConnection): Promise<void> {
  for await (const status of nc.status()) if (status.type === 'reconnect') return;
}

describe.each(versions)('NatsToolCatalog on nats-server $version', ({ path }) => {
  let server: NatsServer;
  let nc: NatsConnection;
  const catalogs: NatsToolCatalog[] = [];

  beforeAll(async () => {
    server = await startNatsServer({ binary: path });
    nc = await connect({ servers: server.url, maxReconnectAttempts: -1, reconnectTimeWait: 50 });
  });

  afterEach(async () => {
    for (const catalog of catalogs.splice(0)) await catalog.stop();
    // Not deleted: a stream that is deleted and made anew at once can come back with its old messages (seen on 2.15.2).
    await (await jetstreamManager(nc)).streams.purge('KV_LONGREIN_TOOLS');
  });

  afterAll(async () => {
    await nc.close();
    await server.stop();
  });

  async function start(options?: NatsToolCatalogOptions): Promise<NatsToolCatalog> {
    const catalog = await NatsToolCatalog.start(nc, options);
    catalogs.push(catalog);
    return catalog;
  }

  const names = (catalog: ToolCatalog): string[] => catalog.list().map((tool) => tool.visible_name);
  /** A plain publish, as a tool without a KV client does it, and its acknowledgement. */
  const publish = async (key: string, body: string): Promise<void> => {
    const stored = await nc.request(`$KV.LONGREIN_TOOLS.${key}`, body, { timeout: 10_000 });
    expect(stored.json()).toMatchObject({ stream: 'KV_LONGREIN_TOOLS' });
  };

  it('makes the bucket and follows plain publishes, changes and deletions', async () => {
    const catalog = await start();
    expect(catalog.list()).toEqual([]);
    await publish('default.a', definition('a'));
    await publish('web.b', definition('b'));
    await until(catalog, () => names(catalog).length === 2);
    expect(names(catalog)).toEqual(['a', 'web__b']);
    await publish('default.a', definition('a', 'better'));
    await until(catalog, () => catalog.resolve('a')?.description === 'better');
    await (await openToolsBucket(nc)).delete('web.b');
    await until(catalog, () => names(catalog).length === 1);
    expect(catalog.resolve('web__b')).toBeUndefined();
  });

  it('starts with the complete list, deletions applied, the same for every replica', async () => {
    const bucket = await openToolsBucket(nc);
    for (const name of ['c', 'a', 'b']) await bucket.put(`default.${name}`, definition(name));
    await bucket.delete('default.b');
    const [one, other] = [await start(), await start()];
    expect(names(one)).toEqual(['a', 'c']);
    expect(other.describe()).toEqual(one.describe());
  });

  it('starts empty when all there is was deleted', async () => {
    const bucket = await openToolsBucket(nc);
    await bucket.put('default.a', definition('a'));
    await bucket.delete('default.a');
    expect(names(await start())).toEqual([]);
  });

  it('reports bad registrations once and goes on', async () => {
    const reports: string[] = [];
    const catalog = await start({ report: ({ key, reason }) => reports.push(`${key}: ${reason}`) });
    await publish('default.broken', '{');
    await publish('default.liar', definition('other'));
    await publish('default.ns__twin', definition('ns__twin'));
    await publish('ns.twin', definition('twin'));
    await publish('default.too.deep', definition('deep'));
    await publish('default.fine', definition('fine'));
    await until(catalog, () => names(catalog).includes('fine'));
    expect(names(catalog)).toEqual(['fine', 'ns__twin']);
    expect(catalog.rejected().map(({ key }) => key)).toEqual([
      'default.broken',
      'default.liar',
      'default.too.deep',
      'ns.twin',
    ]);
    expect(reports).toHaveLength(4);
    expect(reports.join('\n')).toContain('default.broken: the registration is ignored: the definition is not JSON');
    await publish('default.broken', definition('broken'));
    await until(catalog, () => names(catalog).includes('broken'));
    expect(catalog.rejected()).toHaveLength(3);
  });

  it('keeps its list while the server is away and follows on afterwards', async () => {
    const catalog = await start();
    await publish('default.a', definition('a'));
    await until(catalog, () => names(catalog).length === 1);
    const back = reconnected(nc);
    // In order: a killed server may lose the last milliseconds of what it acknowledged.
    await server.kill('SIGTERM');
    expect(names(catalog)).toEqual(['a']);
    await server.restart();
    await back;
    await (await openToolsBucket(nc)).put('default.b', definition('b'));
    await until(catalog, () => names(catalog).length === 2);
    expect(names(catalog)).toEqual(['a', 'b']);
  });

  it('starts over when the server comes back without its data', async () => {
    const catalog = await start();
    await publish('default.a', definition('a'));
    await until(catalog, () => names(catalog).length === 1);
    await server.kill();
    rmSync(server.storeDir, { recursive: true });
    await server.restart();
    await until(catalog, () => names(catalog).length === 0);
    await publish('default.b', definition('b'));
    await until(catalog, () => names(catalog).length === 1);
    expect(names(catalog)).toEqual(['b']);
  });

  it('notices on a living connection that the bucket was made anew', async () => {
    const noticed = Promise.withResolvers<string>();
    const catalog = await start({ checkMs: 50, report: ({ reason }) => noticed.resolve(reason) });
    await publish('default.a', definition('a'));
    await until(catalog, () => names(catalog).includes('a'));
    await (await jetstreamManager(nc)).streams.delete('KV_LONGREIN_TOOLS');
    expect(await noticed.promise).toContain('bucket of tool registrations');
    await (await openToolsBucket(nc)).put('default.b', definition('b'));
    await until(catalog, () => names(catalog).includes('b'));
    expect(names(catalog)).toContain('b');
  });

  it('rejects when the connection is closed before there was a list, and stops cleanly when it closes later', async () => {
    const doomed = await connect({ servers: server.url });
    const catalog = await NatsToolCatalog.start(doomed);
    await doomed.close();
    await catalog.stop();
    await expect(NatsToolCatalog.start(doomed)).rejects.toThrow(/closed/);
    await start();
  });
});
