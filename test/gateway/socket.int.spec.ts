import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { GatewayRig, TOKENS } from './gateway-rig.js';

let rig: GatewayRig;
let url: string;
let count = 0;

/** An id that no other test uses. */
const fresh = (prefix = 'agent'): string => `${prefix}-${++count}`;

beforeAll(async () => {
  rig = await GatewayRig.start();
  url = await rig.gateway();
});

afterEach(() => rig.disconnect());

afterAll(() => rig?.stop());

const unknown = (session: string) => expect(rig.log(session)).rejects.toMatchObject({ code: 'unknown_session' });

/** Sends bytes to the gateway as they are, and reads its answer to the end. */
async function raw(head: string): Promise<string> {
  const { port } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1');
  socket.setEncoding('utf8');
  let answer = '';
  socket.on('data', (part: string) => (answer += part));
  socket.write(head);
  await once(socket, 'end');
  socket.destroy();
  return answer;
}

const upgrade = (path: string, token: string = TOKENS.all): string =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nAuthorization: Bearer ${token}\r\n` +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';

describe('opening a connection', () => {
  it.each<[string, string | undefined, string]>([
    ['no token', undefined, 'agent'],
    ['a wrong token', 'token-of-nothing', 'agent'],
    ['another agent’s token', TOKENS.team, 'agent'],
  ])('WSP-01 answers %s with one unauthorized frame and closes; no session comes to be', async (_, token, prefix) => {
    const agent = fresh(prefix);
    const client = rig.connect(url, `/agents/${agent}/ws`, token);
    await expect(client.closed).resolves.toEqual({ code: 4401, reason: 'unauthorized' });
    expect(await client.rest()).toEqual([
      { type: 'error', code: 'unauthorized', message: expect.stringContaining('Authorization: Bearer') },
    ]);
    await unknown(agent);
  });

  it('WSP-01 lets a token that covers some agents in where it does', async () => {
    const client = await rig.open(url, fresh('team'), TOKENS.team);
    expect(await client.settled()).toEqual([]);
  });

  it('WSP-02 creates the session on the first connection and resumes it on later ones', async () => {
    const agent = fresh();
    const first = await rig.open(url, agent);
    expect((await rig.log(agent)).map(({ type }) => type)).toEqual(['session/created']);
    await first.close();
    await rig.chunks(agent, 2);
    const hello = await rig.connect(url, `/agents/${agent}/ws`, TOKENS.all).next();
    expect(hello).toEqual({ type: 'hello', proto: 1, session_id: agent, last_seq: 2 });
  });

  it('WSP-03 says hello first and sends no event before subscribe', async () => {
    const agent = fresh();
    await rig.worker.create(agent);
    const client = rig.connect(url, `/agents/${agent}/ws`, TOKENS.all);
    expect(await client.next()).toEqual({ type: 'hello', proto: 1, session_id: agent, last_seq: 0 });
    const watcher = await rig.open(url, agent, TOKENS.reader);
    watcher.send({ type: 'subscribe', from_seq: 0 });
    const end = await rig.chunks(agent, 3);
    await watcher.eventsTo(end);
    expect(await client.settled()).toEqual([]);
  });

  it('WSP-04 supersedes the older steering connection, its last frame saying so', async () => {
    const agent = fresh();
    const first = await rig.open(url, agent);
    first.send({ type: 'subscribe', from_seq: 0 });
    await first.event();
    const second = await rig.open(url, agent);
    await expect(first.closed).resolves.toEqual({ code: 4409, reason: 'superseded' });
    expect(await first.rest()).toEqual([{ type: 'error', code: 'superseded', message: expect.any(String) }]);
    expect(await second.settled()).toEqual([]);
  });

  it('WSP-04 supersedes across replicas of the gateway, and only the same agent’s connection', async () => {
    const [agent, other] = [fresh(), fresh()];
    const first = await rig.open(url, agent);
    const bystander = await rig.open(url, other);
    const second = await rig.open(await rig.gateway(), agent);
    await expect(first.closed).resolves.toMatchObject({ code: 4409 });
    expect(await second.settled()).toEqual([]);
    expect(await bystander.settled()).toEqual([]);
    const third = await rig.open(url, agent);
    await expect(second.closed).resolves.toMatchObject({ code: 4409 });
    expect(await third.settled()).toEqual([]);
  });

  it('lets any number of read-only connections watch beside the steering one', async () => {
    const agent = fresh();
    const clients = [await rig.open(url, agent)];
    for (let i = 0; i < 3; i++) clients.push(await rig.open(url, agent, TOKENS.reader));
    for (const client of clients) client.send({ type: 'subscribe', from_seq: 0 });
    for (const client of clients) expect(await client.event()).toMatchObject({ type: 'session/created' });
  });

  it('refuses a read-only connection to a session that does not exist', async () => {
    const agent = fresh();
    const client = rig.connect(url, `/agents/${agent}/ws`, TOKENS.reader);
    await expect(client.closed).resolves.toMatchObject({ code: 4401 });
    expect(await client.rest()).toEqual([
      { type: 'error', code: 'unauthorized', message: expect.stringContaining(`session ${agent} does not exist`) },
    ]);
    await unknown(agent);
  });

  it('WSP-07 answers wrong paths and plain HTTP without opening a socket', async () => {
    expect(await raw(upgrade('/agents/a'))).toMatch(/^HTTP\/1.1 404 .*"not_found"/s);
    expect(await raw(upgrade('/agents//ws'))).toMatch(/^HTTP\/1.1 404 /);
    expect(await raw(upgrade('//'))).toMatch(/^HTTP\/1.1 404 /);
    expect(await raw(upgrade('/agents/a/ws').replace(/Sec-WebSocket-Key.*\r\n/, ''))).toMatch(/^HTTP\/1.1 400 /);
    const plain = await fetch(`${url}/agents/a/ws`);
    expect(plain.status).toBe(400);
    expect(await plain.json()).toEqual({ error: { code: 'not_a_websocket', message: expect.any(String) } });
  });

  it.each(['a.b', 'a%2Eb', '%24fleet', 'a*', 'x'.repeat(129)])('refuses the agent id %s', async (id) => {
    const answer = await raw(upgrade(`/agents/${id}/ws`));
    expect(answer).toMatch(/^HTTP\/1.1 400 .*"invalid_id".*1-128 characters of A-Z a-z 0-9 _ -/s);
  });

  it('tells a stranger nothing about an id with a dot', async () => {
    const client = rig.connect(url, '/agents/a.b/ws', 'token-of-nothing');
    await expect(client.closed).resolves.toMatchObject({ code: 4401 });
  });
});

describe('an idle connection', () => {
  it('WSP-08 is pinged; the application need not answer, but a client that vanished is dropped', async () => {
    const attentive = await rig.gateway({ LONGREIN_PING_INTERVAL_MS: '100' });
    const agent = fresh();
    const client = await rig.open(attentive, agent);
    for (let i = 0; i < 3; i++) await once(client.socket, 'ping');
    expect(await client.settled()).toEqual([]);
    const vanished = rig.connect(attentive, `/agents/${agent}/ws?access=read`, TOKENS.all, { autoPong: false });
    await expect(vanished.closed).resolves.toMatchObject({ code: 1006 });
    await once(client.socket, 'ping');
    expect(await client.settled()).toEqual([]);
  });
});

describe('a connection that asks to watch only', () => {
  it('supersedes nobody and may not act, whatever its token allows', async () => {
    const agent = fresh();
    const steering = await rig.open(url, agent);
    const watching = rig.connect(url, `/agents/${agent}/ws?access=read`, TOKENS.all);
    expect(await watching.next()).toMatchObject({ type: 'hello' });
    watching.send({ type: 'inject', text: 'x' });
    expect(await watching.next()).toMatchObject({ type: 'error', code: 'unauthorized' });
    watching.send({ type: 'subscribe', from_seq: 0 });
    expect(await watching.event()).toMatchObject({ seq: 0 });
    expect(await steering.settled()).toEqual([]);
  });
});

describe('bad frames', () => {
  it('WSP-10, WSP-11, WSP-12: each is refused, nothing is appended, the connection stays usable', async () => {
    const agent = fresh();
    const client = await rig.open(url, agent);
    const refusal = async (): Promise<unknown> => {
      const frame = await client.next();
      expect(frame).toMatchObject({ type: 'error', code: 'bad_frame' });
      return frame['message'];
    };
    const bad: [string | object | Buffer, RegExp][] = [
      ['not json', /not JSON/],
      [[1], /not a JSON object/],
      [{ type: 'explode' }, /"explode"/],
      [{ type: 'inject' }, /text/],
      [{ type: 'inject', text: 5 }, /text/],
      ['{"type":"inject","text":"\\udc00"}', /well-formed/],
      [{ type: 'subscribe', from_seq: -1 }, /from_seq/],
      [{ type: 'subscribe', from_seq: '0' }, /from_seq/],
      ['{"type":"subscribe","from_seq":NaN}', /not JSON/],
      [Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]), /UTF-8/],
      [{ type: 'inject', text: 'x'.repeat(2 * 1024 * 1024) }, /at most 1048576/],
      [{ type: 'set_model', role: 'main', model: 'nonsense' }, /provider\/model/],
    ];
    for (const [frame, message] of bad) {
      client.send(frame);
      expect(await refusal()).toMatch(message);
    }
    client.send(Buffer.from('{"type":"cancel"}'), { binary: true });
    expect(await refusal()).toMatch(/binary/);
    // Below the frame's limit, above the log's.
    client.send({ type: 'inject', text: 'x'.repeat(1_000_000) });
    expect(await refusal()).toMatch(/bytes/);
    expect((await rig.log(agent)).length).toBe(1);

    client.send({ type: 'subscribe', from_seq: 0 });
    client.send({ type: 'inject', text: 'still here', input_id: 'i1' });
    await client.event();
    expect(await client.event()).toMatchObject({ type: 'input/queued', payload: { text: 'still here' } });
  });

  it('survives a client that floods bad frames and does not read the answers', async () => {
    const agent = fresh();
    const flood = await rig.open(url, agent);
    flood.socket.pause();
    for (let i = 0; i < 2_000; i++) flood.send('nonsense');
    const calm = await rig.open(url, fresh());
    expect(await calm.settled()).toEqual([]);
    flood.socket.resume();
    expect(await flood.settled()).toHaveLength(2_000);
  });

  it('ends only the connection whose frame is beyond all bounds', async () => {
    const [big, calm] = [await rig.open(url, fresh()), await rig.open(url, fresh())];
    big.send({ type: 'inject', text: 'x'.repeat(17 * 1024 * 1024) });
    expect([1006, 1009]).toContain((await big.closed).code);
    expect(await calm.settled()).toEqual([]);
  });
});

describe('frames that act', () => {
  it('queues inputs; the same input_id is the same input, from any connection and after much streaming', async () => {
    const agent = fresh();
    const first = await rig.open(url, agent);
    first.send({ type: 'inject', text: 'hello', wake: true, input_id: 'i1' });
    first.send({ type: 'inject', text: 'hello', wake: true, input_id: 'i1' });
    first.send({ type: 'inject', text: 'aside' });
    await first.settled();
    await rig.chunks(agent, 1_000);
    const second = await rig.open(url, agent);
    second.send({ type: 'inject', text: 'hello', wake: true, input_id: 'i1' });
    await second.settled();
    const inputs = (await rig.log(agent)).filter(({ type }) => type === 'input/queued');
    expect(inputs.map(({ payload }) => payload)).toEqual([
      { input_id: 'i1', text: 'hello', wake: true, origin: 'client' },
      { input_id: expect.any(String), text: 'aside', wake: false, origin: 'client' },
    ]);
  });

  it('WSP-27 answers cancel with not_running when no turn is open', async () => {
    const agent = fresh();
    const client = await rig.open(url, agent);
    client.send({ type: 'cancel' });
    expect(await client.next()).toMatchObject({ type: 'error', code: 'not_running' });
    await rig.append(agent, [{ type: 'turn/start', payload: { turn_id: 't1', agent, epoch: 0 } }]);
    await rig.append(agent, [{ type: 'turn/end', payload: { turn_id: 't1', status: 'completed' } }]);
    client.send({ type: 'cancel' });
    expect(await client.next()).toMatchObject({ type: 'error', code: 'not_running' });
    expect((await rig.log(agent)).map(({ type }) => type)).not.toContain('turn/cancel_requested');
  });

  it('cancels the open turn, with its reason', async () => {
    const agent = fresh();
    const client = await rig.open(url, agent);
    await rig.append(agent, [{ type: 'turn/start', payload: { turn_id: 't1', agent, epoch: 0 } }]);
    client.send({ type: 'cancel', reason: 'enough' });
    client.send({ type: 'cancel' });
    expect(await client.settled()).toEqual([]);
    expect((await rig.log(agent)).slice(2).map(({ type, payload }) => ({ type, payload }))).toEqual([
      { type: 'turn/cancel_requested', payload: { turn_id: 't1', reason: 'enough' } },
      { type: 'turn/cancel_requested', payload: { turn_id: 't1' } },
    ]);
  });

  it('WSP-30 answers approve, deny and set_policy with unsupported and appends nothing', async () => {
    const agent = fresh();
    const client = await rig.open(url, agent);
    for (const frame of [
      { type: 'approve', call_id: 'c' },
      { type: 'deny', call_id: 'c', reason: 'no' },
      { type: 'set_policy', patterns: [] },
    ]) {
      client.send(frame);
      expect(await client.next()).toMatchObject({ type: 'error', code: 'unsupported' });
    }
    expect(await rig.log(agent)).toHaveLength(1);
  });

  it('WSP-32 appends a valid model selection and refuses an invalid one', async () => {
    const agent = fresh();
    const client = await rig.open(url, agent);
    client.send({ type: 'set_model', role: 'main', model: 'openrouter/meta/llama' });
    client.send({ type: 'set_model', role: 'main', model: 'llama' });
    expect(await client.next()).toMatchObject({ type: 'error', code: 'bad_frame' });
    expect((await rig.log(agent)).slice(1)).toMatchObject([
      { type: 'session/model_selected', payload: { role: 'main', model: 'openrouter/meta/llama' } },
    ]);
  });

  it('lets a read-only token subscribe and nothing else; the connection stays open', async () => {
    const agent = fresh();
    await rig.worker.create(agent);
    const client = await rig.open(url, agent, TOKENS.reader);
    const frames = [
      [{ type: 'inject', text: 'x' }, 'steer'],
      [{ type: 'cancel' }, 'steer'],
      [{ type: 'approve', call_id: 'c' }, 'approve'],
      [{ type: 'set_model', role: 'main', model: 'a/b' }, 'model'],
      [{ type: 'set_policy', patterns: [] }, 'policy'],
    ] as const;
    for (const [frame, capability] of frames) {
      client.send(frame);
      expect(await client.next()).toEqual({
        type: 'error',
        code: 'unauthorized',
        message: expect.stringContaining(`capability ${capability}`),
      });
    }
    client.send({ type: 'subscribe', from_seq: 0 });
    expect(await client.event()).toMatchObject({ seq: 0 });
    expect(await rig.log(agent)).toHaveLength(1);
  });

  it('WSP-35 keeps log and subscribers untouched when an append of ill-formed text is refused', async () => {
    const agent = fresh();
    const client = await rig.open(url, agent);
    client.send({ type: 'subscribe', from_seq: 0 });
    await client.event();
    const bad = rig.append(agent, [{ type: 'assistant/chunk', payload: { text: '\ud800' } }]);
    await expect(bad).rejects.toMatchObject({ code: 'invalid_event' });
    expect(await client.settled()).toEqual([]);
    const end = await rig.chunks(agent, 1);
    expect(end).toBe(1);
    expect(await client.event()).toMatchObject({ seq: 1 });
  });

  it('reports a registry that cannot be reached as unavailable', async () => {
    const agent = fresh();
    const client = await rig.open(url, agent);
    await rig.deployment.as('registry').append(agent, {
      events: [{ type: 'session/configured', payload: { agent_id: agent, generation: 1, spec: {} } }],
      since: 0,
    });
    client.send({ type: 'inject', text: 'wake up', wake: true });
    expect(await client.next()).toMatchObject({ code: 'unavailable', message: expect.stringContaining('registry') });
    client.send({ type: 'inject', text: 'no hurry', wake: false });
    expect(await client.settled()).toEqual([]);
    expect((await rig.log(agent)).at(-1)).toMatchObject({ payload: { text: 'no hurry', wake: false } });
  });
});
