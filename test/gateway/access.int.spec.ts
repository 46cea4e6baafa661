import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { RunningGateway } from '@longrein/gateway-app';
import type { SocketClient } from '../../apps/gateway/src/socket-client.spec-kit.js';
import { EventStreamClient } from './event-stream-client.js';
import { GatewayRig, TOKENS } from './gateway-rig.js';

let rig: GatewayRig;
let url: string;
let count = 0;

beforeAll(async () => {
  rig = await GatewayRig.start();
  url = await rig.gateway();
});

afterEach(() => rig.disconnect());

afterAll(() => rig?.stop());

const fresh = (): string => `access-${++count}`;

/** Opens a connection that only watches, whatever its token allows. */
async function watching(at: string, agent: string, token: string): Promise<SocketClient> {
  const client = rig.connect(at, `/agents/${agent}/ws?access=read`, token);
  expect(await client.next()).toMatchObject({ type: 'hello' });
  return client;
}

async function ticket(body: object, token: string = TOKENS.all, at = url): Promise<{ status: number; ticket: string }> {
  const response = await fetch(`${at}/tickets`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, ...((await response.json()) as { ticket: string }) };
}

describe('tokens that are rotated', () => {
  let directory: string;
  let file: string;
  let replica: RunningGateway;

  const put = async (...rules: object[]): Promise<void> => {
    await writeFile(join(directory, 'next'), JSON.stringify(rules));
    await rename(join(directory, 'next'), file);
  };

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'longrein-rotation-'));
    file = join(directory, 'tokens.json');
    await put({ token: 'token-of-alice' }, { token: 'token-of-bob' });
    replica = await rig.replica({ LONGREIN_TOKENS_FILE: file });
  });

  afterEach(() => rm(directory, { recursive: true }));

  it('WSP-05 drops whoever holds the old one, whichever way it came, and nobody else; the new one starts at once', async () => {
    const at = replica.url!;
    const [a, b, c, d] = [fresh(), fresh(), fresh(), fresh()];
    const alice = await rig.open(at, a, 'token-of-alice');
    const guest = rig.connect(
      at,
      `/agents/${b}/ws?ticket=${(await ticket({ agent_id: b }, 'token-of-alice', at)).ticket}`,
    );
    expect(await guest.next()).toMatchObject({ type: 'hello' });
    await rig.worker.create(c);
    const stream = await EventStreamClient.open(`${at}/sessions/${c}/stream`, {
      authorization: 'Bearer token-of-alice',
    });
    await stream.eventsTo(0);
    const spare = (await ticket({ agent_id: d }, 'token-of-alice', at)).ticket;
    const bob = await rig.open(at, d, 'token-of-bob');
    for (const client of [alice, bob]) client.send({ type: 'subscribe', from_seq: 0 });
    await Promise.all([alice.event(), bob.event()]);

    // Nobody calls the gateway: it sees the file change.
    await put({ token: 'token-of-carol' }, { token: 'token-of-bob' });
    for (const client of [alice, guest]) {
      await expect(client.closed).resolves.toEqual({ code: 4401, reason: 'unauthorized' });
      expect(await client.rest()).toEqual([{ type: 'error', code: 'unauthorized', message: expect.any(String) }]);
    }
    expect(await stream.rest()).toMatchObject([{ event: 'protocol', data: { type: 'error', code: 'unauthorized' } }]);
    expect((await rig.connect(at, `/agents/${a}/ws`, 'token-of-alice').closed).code).toBe(4401);
    expect((await rig.connect(at, `/agents/${d}/ws?ticket=${spare}`).closed).code).toBe(4401);

    expect(await bob.settled()).toEqual([]);
    await rig.chunks(d, 3);
    expect((await bob.eventsTo(3)).map(({ seq }) => seq)).toEqual([1, 2, 3]);
    await rig.open(at, a, 'token-of-carol');
  });

  it('WSP-05 drops whoever may do less than it was let in for', async () => {
    const at = replica.url!;
    const [a, b] = [fresh(), fresh()];
    const alice = await rig.open(at, a, 'token-of-alice');
    const watcher = await watching(at, a, 'token-of-alice');
    const bob = await rig.open(at, b, 'token-of-bob');
    await put({ token: 'token-of-alice', capabilities: ['read'] }, { token: 'token-of-bob', agents: ['other-*'] });
    await replica.reloadTokens();
    expect((await alice.closed).code).toBe(4401);
    expect((await bob.closed).code).toBe(4401);
    expect(await watcher.settled()).toEqual([]);
  });

  it('changes nothing when the file is broken', async () => {
    const alice = await rig.open(replica.url!, fresh(), 'token-of-alice');
    await writeFile(file, '[{"token":');
    await replica.reloadTokens();
    expect(await alice.settled()).toEqual([]);
    await rig.open(replica.url!, fresh(), 'token-of-bob');
  });
});

describe('tickets', () => {
  it('open a socket without a header, once, on any replica, and only that agent’s', async () => {
    const other = await rig.gateway();
    const agent = fresh();
    const bought = await ticket({ agent_id: agent });
    expect(bought).toMatchObject({ status: 201, agent_id: agent, expires_at: expect.stringMatching(/Z$/) });
    expect((await rig.connect(other, `/agents/${fresh()}/ws?ticket=${bought.ticket}`).closed).code).toBe(4401);
    const client = rig.connect(other, `/agents/${agent}/ws?ticket=${bought.ticket}`);
    expect(await client.next()).toMatchObject({ type: 'hello', session_id: agent });
    client.send({ type: 'inject', text: 'hello' });
    expect(await client.settled()).toEqual([]);
    const again = rig.connect(other, `/agents/${agent}/ws?ticket=${bought.ticket}`);
    await expect(again.closed).resolves.toEqual({ code: 4401, reason: 'unauthorized' });
    expect(await client.settled()).toEqual([]);
  });

  it('open an event stream, and allow no more than was asked for', async () => {
    const agent = fresh();
    await rig.worker.create(agent);
    const bought = await ticket({ agent_id: agent, capabilities: ['read'] });
    const stream = await EventStreamClient.open(`${url}/sessions/${agent}/stream?ticket=${bought.ticket}`, {});
    await stream.eventsTo(0);
    stream.close();
    const less = await ticket({ agent_id: agent, capabilities: ['read'] });
    const client = rig.connect(url, `/agents/${agent}/ws?ticket=${less.ticket}`);
    expect(await client.next()).toMatchObject({ type: 'hello' });
    client.send({ type: 'cancel' });
    expect(await client.next()).toMatchObject({ code: 'unauthorized' });
  });

  it('are sold for what the token covers only, and are no token elsewhere', async () => {
    const agent = fresh();
    expect((await ticket({ agent_id: agent }, TOKENS.team)).status).toBe(401);
    expect((await ticket({ agent_id: agent }, 'token-of-nothing')).status).toBe(401);
    expect((await ticket({})).status).toBe(400);
    expect((await ticket({ agent_id: 'a.b' })).status).toBe(400);
    const bought = await ticket({ agent_id: agent });
    expect((await fetch(`${url}/sessions/${agent}?ticket=${bought.ticket}`)).status).toBe(401);
  });

  it('are signed with the configured key where there is one', async () => {
    const LONGREIN_TICKET_KEY = 'a-key-that-both-replicas-were-given-as-configuration';
    const [one, other] = [await rig.gateway({ LONGREIN_TICKET_KEY }), await rig.gateway({ LONGREIN_TICKET_KEY })];
    const agent = fresh();
    const bought = await ticket({ agent_id: agent }, TOKENS.all, one);
    expect((await rig.connect(url, `/agents/${agent}/ws?ticket=${bought.ticket}`).closed).code).toBe(4401);
    expect(await rig.connect(other, `/agents/${agent}/ws?ticket=${bought.ticket}`).next()).toMatchObject({
      type: 'hello',
    });
  });
});

describe('limits of a token', () => {
  const limited = (limits: object): Promise<string> =>
    rig.gateway({ LONGREIN_TOKENS: JSON.stringify([{ token: 'token-with-limits', limits }, { token: TOKENS.all }]) });

  it('answer limit_exceeded above the rate, and the connection stays', async () => {
    // So slow that no time of this test gives anything back: the opening counts as one.
    const at = await limited({ requests_per_s: 0.001, burst: 4 });
    const agent = fresh();
    const client = await rig.open(at, agent, 'token-with-limits');
    for (let i = 0; i < 5; i++) client.send({ type: 'inject', text: `number ${i}` });
    for (let i = 0; i < 2; i++) {
      expect(await client.next()).toEqual({
        type: 'error',
        code: 'limit_exceeded',
        message: expect.stringContaining('0.001 requests a second'),
      });
    }
    expect((await rig.log(agent)).slice(1).map(({ payload }) => (payload as { text: string }).text)).toEqual([
      'number 0',
      'number 1',
      'number 2',
    ]);
    const answer = await fetch(`${at}/sessions/${agent}`, { headers: { authorization: 'Bearer token-with-limits' } });
    expect(answer.status).toBe(429);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(900);
    expect(await answer.json()).toMatchObject({ error: { code: 'limit_exceeded' } });
    const other = await rig.open(at, agent, TOKENS.all);
    expect(await other.settled()).toEqual([]);
  });

  it('keep a token from being at more sessions than it may, until it leaves one', async () => {
    const at = await limited({ sessions: 2 });
    const [a, b, c] = [fresh(), fresh(), fresh()];
    const first = await rig.open(at, a, 'token-with-limits');
    await watching(at, a, 'token-with-limits');
    const second = await rig.open(at, b, 'token-with-limits');
    const third = rig.connect(at, `/agents/${c}/ws`, 'token-with-limits');
    await expect(third.closed).resolves.toEqual({ code: 4429, reason: 'limit_exceeded' });
    expect(await third.rest()).toMatchObject([{ type: 'error', code: 'limit_exceeded' }]);
    await expect(rig.log(c)).rejects.toMatchObject({ code: 'unknown_session' });
    await rig.worker.create(c);
    const headers = { authorization: 'Bearer token-with-limits' };
    expect((await fetch(`${at}/sessions/${c}/stream`, { headers })).status).toBe(429);
    await second.close();
    await rig.open(at, c, 'token-with-limits');
    expect(await first.settled()).toEqual([]);
  });
});
