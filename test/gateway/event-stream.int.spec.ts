import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { EventStreamClient } from './event-stream-client.js';
import { GatewayRig, TOKENS } from './gateway-rig.js';

let rig: GatewayRig;
let url: string;
let count = 0;
const open: EventStreamClient[] = [];

beforeAll(async () => {
  rig = await GatewayRig.start();
  url = await rig.gateway();
});

afterEach(() => {
  for (const client of open.splice(0)) client.close();
});

afterAll(() => rig?.stop());

async function session(events = 0): Promise<string> {
  const id = `sse-${++count}`;
  await rig.worker.create(id);
  await rig.chunks(id, events);
  return id;
}

interface Wanted {
  readonly at?: string;
  readonly query?: string;
  readonly last?: number;
  readonly token?: string;
}

async function stream(id: string, { at = url, query = '', last, token = TOKENS.reader }: Wanted = {}) {
  const client = await EventStreamClient.open(`${at}/sessions/${id}/stream${query}`, {
    authorization: `Bearer ${token}`,
    ...(last !== undefined && { 'last-event-id': String(last) }),
  });
  open.push(client);
  return client;
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i);

describe('a session as Server-Sent Events', () => {
  it('WSP-14 says hello, replays events exactly as stored under their seq, then tails', async () => {
    const id = await session(700);
    const client = await stream(id);
    expect(client.response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect(await client.next()).toEqual({
      event: 'protocol',
      data: { type: 'hello', proto: 1, session_id: id, last_seq: 700 },
    });
    const replay = await client.eventsTo(700);
    const end = await rig.chunks(id, 30);
    expect([...replay, ...(await client.eventsTo(end))]).toEqual(await rig.log(id));
  });

  it('WSP-24 goes on after Last-Event-ID, on any replica, and waits for what is not there yet', async () => {
    const other = await rig.gateway();
    const id = await session(50);
    const first = await stream(id, { query: '?from_seq=10' });
    const seen = (await first.eventsTo(30)).map(({ seq }) => seq);
    first.close();
    const second = await stream(id, { at: other, last: 30, query: '?from_seq=10' });
    seen.push(...(await second.eventsTo(50)).map(({ seq }) => seq));
    expect(seen).toEqual(range(10, 50));
    const early = await stream(id, { last: 52 });
    expect(await early.next()).toMatchObject({ event: 'protocol' });
    await rig.chunks(id, 5);
    expect((await early.eventsTo(55)).map(({ seq }) => seq)).toEqual([53, 54, 55]);
  });

  it('WSP-18 announces a replay that had to be cut', async () => {
    const small = await rig.gateway({ LONGREIN_REPLAY_LIMIT: '20' });
    const id = await session(50);
    const client = await stream(id, { at: small, query: '?from_seq=3' });
    await client.next();
    expect(await client.next()).toEqual({
      event: 'protocol',
      data: { type: 'replay_truncated', requested_from_seq: 3, from_seq: 31 },
    });
    expect((await client.eventsTo(50)).map(({ seq }) => seq)).toEqual(range(31, 50));
  });

  it('WSP-08 keeps a quiet stream alive with comments', async () => {
    const lively = await rig.gateway({ LONGREIN_PING_INTERVAL_MS: '100' });
    const client = await stream(await session(), { at: lively });
    await client.eventsTo(0);
    for (let i = 0; i < 3; i++) expect(await client.next()).toEqual({ comment: 'still here' });
  });

  it('drops a reader that is too slow for the tail as lagged, as its last frame', async () => {
    const tight = await rig.gateway({ LONGREIN_OUTBOUND_BYTES: '65536' });
    const id = await session();
    const slow = await stream(id, { at: tight });
    const brisk = await stream(id, { at: tight });
    for (const client of [slow, brisk]) await client.eventsTo(0);
    // The tail has been reached when an event of it has come.
    await rig.chunks(id, 1);
    for (const client of [slow, brisk]) await client.eventsTo(1);
    let end = 1;
    while (end < 1_500) {
      end = await rig.chunks(id, 64, 16_000);
      await brisk.eventsTo(end);
    }
    const messages = await slow.rest();
    expect(messages.at(-1)).toMatchObject({ event: 'protocol', data: { type: 'error', code: 'lagged' } });
    const seen = messages.slice(0, -1).map((message) => Number(message.id));
    expect(seen).toEqual(range(2, seen.at(-1)!));
    // As a browser would: reconnect with the last id, and nothing is missing.
    const again = await stream(id, { at: tight, last: seen.at(-1)! });
    expect((await again.eventsTo(end)).map(({ seq }) => seq)).toEqual(range(seen.at(-1)! + 1, end));
  });

  it('ends when the gateway stops, which does not wait for it', async () => {
    const replica = await rig.replica();
    const client = await stream(await session(), { at: replica.url! });
    await client.eventsTo(0);
    await replica.stop();
    expect(await client.rest()).toEqual([]);
  });

  it.each<[string, Wanted, number, string]>([
    ['a wrong token', { token: 'token-of-nothing' }, 401, 'unauthorized'],
    ['another session’s token', { token: TOKENS.team }, 401, 'unauthorized'],
    ['a Last-Event-ID that is no seq', { last: -1 }, 400, 'bad_request'],
    ['a from_seq that is none', { query: '?from_seq=x' }, 400, 'bad_request'],
  ])('refuses %s as every request', async (_, wanted, status, code) => {
    const { query = '', last, token = TOKENS.reader } = wanted;
    const response = await fetch(`${url}/sessions/${await session()}/stream${query}`, {
      headers: { authorization: `Bearer ${token}`, ...(last !== undefined && { 'last-event-id': String(last) }) },
    });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { code } });
  });

  it('refuses a session that does not exist', async () => {
    const client = await stream('nowhere');
    expect(client.response.status).toBe(404);
  });
});
