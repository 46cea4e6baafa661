import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { availableNatsVersions, type NatsServer, startNatsServer } from '@longrein/nats-server';
import type { NatsConnection } from '@nats-io/nats-core';
import { connect } from '@nats-io/transport-node';
import { StreamApi } from '../jetstream/index.js';
import { KvDocumentStore } from './kv-document-store.js';

describe.each(availableNatsVersions())('documents in NATS $version', ({ path }) => {
  let server: NatsServer;
  let nc: NatsConnection;
  let store: KvDocumentStore;

  beforeAll(async () => {
    server = await startNatsServer({ binary: path });
    nc = await connect({ servers: server.url });
    store = await KvDocumentStore.open(nc);
  });
  afterAll(async () => {
    await nc?.close();
    await server?.stop();
  });

  /** Does not compress, so that megabytes stay megabytes. */
  const large = (bytes: number): { data: string } => ({ data: randomBytes(bytes).toString('base64') });

  async function keys(name: string): Promise<string[]> {
    const info = await new StreamApi(nc).request<{ state: { subjects?: object } }>(
      'STREAM.INFO.KV_LONGREIN_DOCUMENTS',
      {
        subjects_filter: `$KV.LONGREIN_DOCUMENTS.${name}.>`,
      },
    );
    return Object.keys(info.state.subjects ?? {});
  }

  it('gives back what was saved last, under any name', async () => {
    for (const name of ['a', 'loop.3', 'loop/3', 'ä ö.>*', 'loop=2e3']) {
      expect(await store.load(name)).toBeUndefined();
      await store.save(name, { name, n: 1 });
      await store.save(name, { name, n: 2, text: 'grün' });
    }
    for (const name of ['a', 'loop.3', 'loop/3', 'ä ö.>*', 'loop=2e3']) {
      expect(await store.load(name)).toEqual({ name, n: 2, text: 'grün' });
      await store.delete(name);
      expect(await store.load(name)).toBeUndefined();
    }
    await store.save('a', null);
    expect(await store.load('a')).toBeNull();
  });

  it('stores several megabytes and leaves nothing of what was replaced', async () => {
    const first = large(3_000_000);
    await store.save('big', first);
    expect(await store.load('big')).toEqual(first);
    const second = large(1_000_000);
    await store.save('big', second);
    expect(await store.load('big')).toEqual(second);
    expect((await keys('big')).length).toBeLessThan(8);
    await store.save('big', { small: true });
    expect(await store.load('big')).toEqual({ small: true });
    expect(await keys('big')).toEqual([]);
    await store.save('big', second);
    await store.delete('big');
    expect(await store.load('big')).toBeUndefined();
    expect(await keys('big')).toEqual([]);
  });

  it('shows a reader one save or another, whole, while others save', async () => {
    const other = await KvDocumentStore.open(nc, { chunk_bytes: 2_000 });
    const documents = [1, 2, 3].map((n) => ({ n, ...large(20_000) }));
    await other.save('shared', documents[0]);
    let saving = true;
    const reading = (async () => {
      let reads = 0;
      while (saving) {
        const found = (await other.load('shared')) as { n: number };
        expect(found).toEqual(documents[found.n - 1]);
        reads++;
      }
      return reads;
    })();
    for (let round = 0; round < 10; round++)
      await Promise.all(documents.map((document) => other.save('shared', document)));
    saving = false;
    expect(await reading).toBeGreaterThan(0);
    const { n } = (await other.load('shared')) as { n: number };
    expect(await other.load('shared')).toEqual(documents[n - 1]);
    const ids = new Set((await keys('shared')).map((key) => key.split('.')[3]));
    expect(ids.size).toBe(1);
  });

  it('removes old pieces whose document was never completed', async () => {
    await nc.request(`$KV.LONGREIN_DOCUMENTS.crashed.${(Date.now() - 4_000_000).toString(36)}-ff.0`, 'piece');
    await nc.request(`$KV.LONGREIN_DOCUMENTS.crashed.${Date.now().toString(36)}-ff.0`, 'piece of a save under way');
    expect(await keys('crashed')).toHaveLength(2);
    await store.save('crashed', large(300_000));
    const left = await keys('crashed');
    expect(left.filter((key) => key.includes('-ff.'))).toHaveLength(1);
  });

  it('treats a document that lost a piece as absent and refuses what JSON would change', async () => {
    await store.save('torn', large(600_000));
    const [piece] = await keys('torn');
    await new StreamApi(nc).request('STREAM.PURGE.KV_LONGREIN_DOCUMENTS', { filter: piece });
    expect(await store.load('torn')).toBeUndefined();
    await expect(store.save('bad', { n: NaN })).rejects.toMatchObject({ code: 'invalid_event' });
    await expect(store.save('', {})).rejects.toThrow(RangeError);
  });
});
