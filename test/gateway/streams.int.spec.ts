import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { EventEnvelope } from '@longrein/events';
import type { NewEvent } from '@longrein/log';
import type { SocketClient } from '../../apps/gateway/src/socket-client.spec-kit.js';
import { GatewayRig, TOKENS } from './gateway-rig.js';

let rig: GatewayRig;
let url: string;
let count = 0;

const fresh = (): string => `stream-${++count}`;

beforeAll(async () => {
  rig = await GatewayRig.start();
  url = await rig.gateway();
});

afterEach(() => rig.disconnect());

afterAll(() => rig?.stop());

/** Connects and subscribes. */
async function subscribed(session: string, from_seq: number, at = url, token?: string): Promise<SocketClient> {
  const client = await rig.open(at, session, token);
  client.send({ type: 'subscribe', from_seq });
  return client;
}

const seqs = (events: readonly EventEnvelope[]): number[] => events.map(({ seq }) => seq);

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i);

/** The events of a turn that streams its answers, a few to an append, for as many steps as are wanted. */
function* turn(agent: string, isWanted: (step: number) => boolean): Generator<NewEvent[]> {
  yield [{ type: 'turn/start', payload: { turn_id: 't1', agent, epoch: 0 } }];
  for (let n = 1; isWanted(n); n++) {
    yield [
      { type: 'step/start', payload: { n, model: 'test/model', request_digest: 'd' } },
      ...(n === 1 ? [{ type: 'user/message', payload: { text: 'go', input_id: 'i1' } }] : []),
    ];
    for (let i = 0; i < 12; i++) yield [{ type: 'assistant/chunk', payload: { text: `word ${n}.${i} ` } }];
    yield [
      { type: 'assistant/message', payload: { parts: [{ type: 'text', text: `step ${n}` }] } },
      { type: 'step/end', payload: { n } },
    ];
  }
  yield [{ type: 'turn/end', payload: { turn_id: 't1', status: 'completed' } }];
}

describe('subscriptions', () => {
  it('WSP-14 sends events exactly as stored; protocol frames have no seq', async () => {
    const session = fresh();
    const client = await rig.open(url, session);
    client.send({ type: 'inject', text: 'naïve 🚀 \u0000', input_id: 'i' });
    client.send({ type: 'set_model', role: 'main', model: 'a/b' });
    for (const events of turn(session, (n) => n <= 1)) await rig.append(session, events);
    client.send({ type: 'subscribe', from_seq: 0 });
    const stored = await rig.log(session);
    expect(await client.eventsTo(stored.length - 1)).toEqual(stored);
    client.send({ type: 'cancel' });
    const frame = await client.next();
    expect(Object.keys(frame).sort()).toEqual(['code', 'message', 'type']);
  });

  it('starts at from_seq, inclusive, wherever it lies', async () => {
    const session = fresh();
    await rig.open(url, session);
    const end = await rig.chunks(session, 600);
    for (const from of [0, 1, 499, 500, 501, end]) {
      const client = await subscribed(session, from);
      expect(seqs(await client.eventsTo(end))).toEqual(range(from, end));
    }
  });

  it('WSP-15 has no gap and no duplicate across the seam while events keep arriving', async () => {
    const session = fresh();
    await rig.open(url, session);
    await rig.chunks(session, 200);
    const writing = rig.chunks(session, 800);
    const clients = [];
    for (let i = 0; i < 4; i++) clients.push(await subscribed(session, i * 50, url, TOKENS.reader));
    const end = await writing;
    for (const [i, client] of clients.entries()) {
      expect(seqs(await client.eventsTo(end))).toEqual(range(i * 50, end));
      expect(await client.settled()).toEqual([]);
    }
  });

  it('filters until a future seq is reached', async () => {
    const session = fresh();
    const client = await subscribed(session, 10);
    await rig.chunks(session, 9);
    expect(await client.settled()).toEqual([]);
    await rig.chunks(session, 3);
    expect(seqs(await client.eventsTo(12))).toEqual([10, 11, 12]);
  });

  it('replaces the subscription when subscribed again', async () => {
    const session = fresh();
    const client = await subscribed(session, 0);
    await rig.chunks(session, 50);
    await client.eventsTo(50);
    client.send({ type: 'subscribe', from_seq: 40 });
    expect(seqs(await client.eventsTo(50))).toEqual(range(40, 50));
    client.send({ type: 'subscribe', from_seq: 53 });
    client.send({ type: 'subscribe', from_seq: 52 });
    await client.settled();
    await rig.chunks(session, 4);
    expect(seqs(await client.eventsTo(54))).toEqual([52, 53, 54]);
    expect(await client.settled()).toEqual([]);
  });

  it('WSP-18 announces a truncated replay and sends exactly the newest events, then the tail', async () => {
    const small = await rig.gateway({ LONGREIN_REPLAY_LIMIT: '300' });
    const session = fresh();
    await rig.open(small, session);
    await rig.chunks(session, 299);
    const exact = await subscribed(session, 0, small, TOKENS.reader);
    expect(seqs(await exact.eventsTo(299))).toEqual(range(0, 299));

    await rig.chunks(session, 100);
    const cut = await subscribed(session, 5, small, TOKENS.reader);
    expect(await cut.next()).toEqual({ type: 'replay_truncated', requested_from_seq: 5, from_seq: 100 });
    await rig.chunks(session, 5);
    expect(seqs(await cut.eventsTo(404))).toEqual(range(100, 404));
  });

  it('WSP-20 serves many subscribers through a gate of one, past a slow one that drains its replay', async () => {
    const narrow = await rig.gateway({ LONGREIN_CONCURRENT_REPLAYS: '1' });
    const session = fresh();
    await rig.open(narrow, session);
    const end = await rig.chunks(session, 400, 16_000);
    const slow = await rig.open(narrow, session, TOKENS.reader);
    slow.socket.pause();
    slow.send({ type: 'subscribe', from_seq: 0 });
    const clients = [];
    for (let i = 0; i < 12; i++) clients.push(await subscribed(session, end - 20, narrow, TOKENS.reader));
    for (const client of clients) expect(seqs(await client.eventsTo(end))).toEqual(range(end - 20, end));
    slow.socket.resume();
    expect(seqs(await slow.eventsTo(end))).toEqual(range(0, end));
  });

  it('WSP-21 waits for a slow reader of a replay longer than the queue, also past what comes meanwhile', async () => {
    const tight = await rig.gateway({ LONGREIN_OUTBOUND_BYTES: '65536' });
    const session = fresh();
    await rig.open(url, session);
    await rig.chunks(session, 400, 16_000);
    const slow = await rig.open(tight, session, TOKENS.reader);
    slow.send({ type: 'subscribe', from_seq: 0 });
    await slow.event();
    slow.socket.pause();
    const end = await rig.chunks(session, 100, 16_000);
    slow.socket.resume();
    expect(seqs(await slow.eventsTo(end))).toEqual(range(1, end));
  });

  it('drops a reader that is too slow for the live tail as lagged, without harm to another', async () => {
    const tight = await rig.gateway({ LONGREIN_OUTBOUND_BYTES: '65536' });
    const session = fresh();
    const steering = await subscribed(session, 0, tight);
    const slow = await subscribed(session, 0, tight, TOKENS.reader);
    await Promise.all([steering.event(), slow.event()]);
    // The tail has been reached when an event of it has come.
    await rig.chunks(session, 1);
    await Promise.all([steering.event(), slow.event()]);
    slow.socket.pause();
    let end = 1;
    let read = 1;
    // As much as it takes to fill the buffers of both kernels: the reader is gone when the gateway says so.
    while (end < 160) {
      end = await rig.chunks(session, 20, 100_000);
      read = (await steering.eventsTo(end)).at(-1)!.seq;
    }
    expect(read).toBe(end);
    slow.socket.resume();
    const frames = await slow.rest();
    await expect(slow.closed).resolves.toEqual({ code: 4408, reason: 'lagged' });
    expect(frames.filter(({ type }) => type === 'error')).toHaveLength(1);
    const last = frames.at(-1)!;
    expect(last).toEqual({ type: 'error', code: 'lagged', message: expect.stringContaining('from_seq') });
    const seen = frames.slice(0, -1).map(({ seq }) => seq!);
    expect(seen).toEqual(range(2, seen.at(-1)!));
    // The message says where to go on.
    expect(last['message']).toContain(`from_seq ${seen.at(-1)! + 1}`);
    expect(await steering.settled()).toEqual([]);
  });

  it('WSP-23 cancels nothing when a client drops in mid-turn', async () => {
    const session = fresh();
    const client = await subscribed(session, 0);
    const events = [...turn(session, (n) => n <= 2)];
    for (const append of events.slice(0, 6)) await rig.append(session, append);
    await client.eventsTo(5);
    client.kill();
    await client.closed;
    for (const append of events.slice(6)) await rig.append(session, append);
    const stored = await rig.log(session);
    expect(stored.map(({ type }) => type)).not.toContain('turn/cancel_requested');
    expect(stored.at(-1)).toMatchObject({ type: 'turn/end', payload: { status: 'completed' } });

    // WSP-24: what it had and what it gets when it is back are the whole log.
    const back = await subscribed(session, 6);
    expect(await back.eventsTo(stored.at(-1)!.seq)).toEqual(stored.slice(6));
  });

  it('WSP-24 sees the log exactly after reconnecting 50 times at random points of a streaming turn', async () => {
    const urls = [url, await rig.gateway()];
    const session = fresh();
    await rig.open(url, session);
    let reconnects = 0;
    const written = (async (): Promise<number> => {
      let end = 0;
      // The turn goes on for as long as the subscriber has reconnects to make.
      for (const append of turn(session, () => reconnects < 50)) end = await rig.append(session, append);
      return end;
    })();
    const seen: EventEnvelope[] = [];
    for (; reconnects < 50; reconnects++) {
      const client = await subscribed(session, seen.length, urls[reconnects % 2], TOKENS.reader);
      // From none at all, before the replay has begun, to well into the tail.
      for (let take = Math.floor(Math.random() * 60); take > 0; take--) seen.push(await client.event());
      client.kill();
    }
    const end = await written;
    const last = await subscribed(session, seen.length, url, TOKENS.reader);
    seen.push(...(await last.eventsTo(end)));
    expect(seqs(seen)).toEqual(range(0, end));
    expect(seen).toEqual(await rig.log(session));
  });

  it('keeps subscribers without gap or duplicate while the log service is replaced', async () => {
    const session = fresh();
    const client = await subscribed(session, 0);
    await rig.chunks(session, 100);
    await rig.deployment.replica();
    const end = await rig.chunks(session, 100);
    expect(seqs(await client.eventsTo(end))).toEqual(range(0, end));
  });
});
