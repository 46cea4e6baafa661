import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { logConfig, startLog } from '@longrein/log-app';
import { LogClient } from '@longrein/log/client';
import { StreamApi } from '@longrein/log/jetstream';
import type { RunningService } from '@longrein/service';
import { withNats } from '@longrein/testing';
import type { NatsConnection } from '@nats-io/transport-node';

const MIB = 1024 * 1024;
const STREAM = 'SESSIONS_0';
const text = 'x'.repeat(64 * 1024);
const server = withNats();

let nats: NatsConnection;
let client: LogClient;
let first: RunningService;

async function log(instance: string): Promise<RunningService> {
  return startLog(
    logConfig.parse({
      NATS_URL: server.url,
      PORT: '0',
      LONGREIN_PARTITIONS: '1',
      LONGREIN_INSTANCE: instance,
      LONGREIN_STREAM_MAX_BYTES: String(MIB),
      LONGREIN_LEASE_TTL_MS: '1000',
      LOG_LEVEL: 'silent',
    }),
  );
}

beforeAll(async () => {
  nats = await server.connect();
  first = await log('first');
  client = new LogClient(nats, { service: 'gateway', partitions: 1 });
});

afterAll(async () => {
  client.close();
  await first.stop();
});

const queue = (n: number) =>
  client.append('s', {
    events: [{ type: 'input/queued', payload: { input_id: `i${n}`, text, wake: false }, event_id: `e${n}` }],
    since: -1,
  });

const metric = async (service: RunningService, name: string): Promise<number> => {
  const body = await (await fetch(`${service.url}/metrics`)).text();
  const line = body.split('\n').find((sample) => sample.startsWith(`${name}{`) && sample.includes(`"${STREAM}"`));
  return Number(line?.split(' ').at(-1));
};

describe('a stream at its limit', () => {
  it('refuses appends as storage_full, answers reads, shows how full it is, and goes on once there is room', async () => {
    await client.create('s');
    let taken = 0;
    const refused = await (async () => {
      for (;;) {
        try {
          await queue(taken + 1);
          taken += 1;
        } catch (error) {
          return error;
        }
      }
    })();
    expect(refused).toMatchObject({ code: 'storage_full', retryable: false });
    expect(taken).toBeGreaterThan(8);
    await expect(queue(taken + 1)).rejects.toMatchObject({ code: 'storage_full' });
    expect(await client.read('s', { from_seq: 0, limit: 1 })).toMatchObject({ last_seq: taken });

    // The next owner looks at its streams when it begins.
    await first.stop();
    const api = new StreamApi(nats);
    const info = await api.request<{ config: object }>(`STREAM.INFO.${STREAM}`);
    // What it takes to begin a term has to fit.
    await api.request(`STREAM.UPDATE.${STREAM}`, { ...info.config, max_bytes: MIB + 1_000 });
    first = await log('second');
    expect(await metric(first, 'longrein_log_stream_max_bytes')).toBe(MIB + 1_000);
    expect(await metric(first, 'longrein_log_stream_fill_ratio')).toBeGreaterThan(0.9);
    const ready = await fetch(`${first.url}/readyz`);
    expect(ready.status).toBe(200);
    await expect(queue(taken + 1)).rejects.toMatchObject({ code: 'storage_full' });

    await api.request(`STREAM.UPDATE.${STREAM}`, { ...info.config, max_bytes: 4 * MIB });
    expect(await queue(taken + 1)).toMatchObject({ seq: taken + 1 });
    expect(await queue(1)).toMatchObject({ seq: 1 });
    const { events } = await client.read('s', { from_seq: taken });
    expect(events.map(({ seq, payload }) => [seq, (payload as { input_id: string }).input_id])).toEqual([
      [taken, `i${taken}`],
      [taken + 1, `i${taken + 1}`],
    ]);
  });
});
