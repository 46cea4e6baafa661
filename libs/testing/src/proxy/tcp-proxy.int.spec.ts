import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { VirtualClock } from '../clock/virtual-clock.js';
import { withNats } from '../nats/test-nats.js';
import { TcpProxy } from './tcp-proxy.js';

const nats = withNats();
let proxy: TcpProxy;
let clock: VirtualClock;

beforeEach(async () => {
  clock = new VirtualClock();
  proxy = await TcpProxy.start({ target: nats.port, clock });
});

afterEach(async () => {
  await proxy.stop();
});

const through = (): Promise<NatsConnection> =>
  nats.connect({ servers: proxy.url, reconnectTimeWait: 5, reconnectJitter: 1, maxReconnectAttempts: -1 });

/** Resolves at the connection's next status of this kind. */
async function status(nc: NatsConnection, type: string): Promise<void> {
  for await (const event of nc.status()) if (event.type === type) return;
  throw new Error(`the connection was closed before it was "${type}"`);
}

describe('TcpProxy', () => {
  it('forwards both ways', async () => {
    const nc = await through();
    nc.subscribe('echo', { callback: (_, message) => void message.respond(message.data) });
    const large = 'x'.repeat(900_000);
    expect((await nc.request('echo', large, { timeout: 20_000 })).string()).toBe(large);
    expect(proxy.connections).toBe(1);
  });

  it('cuts all connections; the client comes back', async () => {
    const nc = await through();
    const back = status(nc, 'reconnect');
    proxy.cut();
    await back;
    await proxy.whenConnected();
    await nc.flush();
  });

  it('refuses new connections until it accepts again', async () => {
    const nc = await through();
    await proxy.refuse();
    const [lost, back] = [status(nc, 'disconnect'), status(nc, 'reconnect')];
    proxy.cut();
    await lost;
    await expect(nats.connect({ servers: proxy.url, reconnect: false })).rejects.toThrow();
    expect(proxy.connections).toBe(0);
    await proxy.accept();
    await back;
  });

  it('pauses one direction and delivers what it held, in order', async () => {
    const nc = await through();
    const direct = await nats.connect();
    const received: string[] = [];
    const subscription = nc.subscribe('held', {
      callback: (_, message) => void received.push(message.string()),
      max: 3,
    });
    await nc.flush();
    proxy.pause('down');
    for (const text of ['1', '2', '3']) direct.publish('held', text);
    await direct.flush();
    // The other direction works: what the paused client publishes arrives.
    const heard = new Promise<string>((resolve) =>
      direct.subscribe('up', { max: 1, callback: (_, message) => resolve(message.string()) }),
    );
    await direct.flush();
    nc.publish('up', 'still here');
    expect(await heard).toBe('still here');
    expect(received).toEqual([]);
    proxy.resume('down');
    await subscription.closed;
    expect(received).toEqual(['1', '2', '3']);
  });

  it('delays by the clock', async () => {
    const nc = await through();
    proxy.delay('down', 250);
    const answered = nc.rtt();
    await clock.whenPending();
    expect(clock.untilNext).toBe(250);
    await clock.advance(250);
    expect(await answered).toBeGreaterThanOrEqual(0);
  });

  it('loses one publish acknowledgement of a stored message and nothing else', async () => {
    const nc = await through();
    await (await jetstreamManager(nc)).streams.add({ name: 'S', subjects: ['s.>'] });
    const js = jetstream(nc);
    expect((await js.publish('s.1', 'a')).seq).toBe(1);
    const lost = proxy.dropPubAcks((ack) => ack.stream === 'S', 1);
    const unanswered = js.publish('s.2', 'b', { timeout: 200, msgID: 'b', retries: 0 });
    await lost.whenDropped();
    await expect(unanswered).rejects.toThrow();
    expect(lost.dropped).toHaveLength(1);
    const retry = await js.publish('s.2', 'b', { msgID: 'b' });
    expect(retry).toMatchObject({ seq: 2, duplicate: true });
    expect(nc.isClosed()).toBe(false);
  });

  it('loses frames on the way up, chosen by subject', async () => {
    const nc = await through();
    const direct = await nats.connect();
    const received: string[] = [];
    const subscription = direct.subscribe('pick.*', { max: 2, callback: (_, m) => void received.push(m.subject) });
    await direct.flush();
    const lost = proxy.drop('up', (frame) => frame.op === 'PUB' && frame.subject === 'pick.2');
    for (const subject of ['pick.1', 'pick.2', 'pick.3']) nc.publish(subject);
    await subscription.closed;
    expect(received).toEqual(['pick.1', 'pick.3']);
    lost.remove();
    expect(lost.dropped.map(({ subject }) => subject)).toEqual(['pick.2']);
  });
});
