import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { GatewayRig, TOKENS } from './gateway-rig.js';

let rig: GatewayRig;
let url: string;
let count = 0;

const fresh = (prefix = 'http'): string => `${prefix}-${++count}`;

beforeAll(async () => {
  rig = await GatewayRig.start();
  url = await rig.gateway();
});

afterAll(() => rig?.stop());

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

async function call(
  method: string,
  path: string,
  body?: unknown,
  { token = TOKENS.all as string | undefined, type = 'application/json' } = {},
): Promise<Answer> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': type }),
    },
    ...(body !== undefined && {
      body: typeof body === 'string' || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
    }),
  });
  return { status: response.status, body: await response.json() };
}

const refusal = (status: number, code: string, message: RegExp | string = /./): unknown => ({
  status,
  body: { error: { code, message: expect.stringMatching(message) } },
});

async function session(): Promise<string> {
  const id = fresh();
  await rig.worker.create(id);
  return id;
}

describe('sessions over HTTP', () => {
  it('creates a session, names one itself when asked to, and says when it was there', async () => {
    const id = fresh();
    expect(await call('POST', '/sessions', { session_id: id })).toEqual({
      status: 201,
      body: { session_id: id, created: true, last_seq: 0 },
    });
    await rig.chunks(id, 2);
    expect(await call('POST', '/sessions', { session_id: id })).toEqual({
      status: 201,
      body: { session_id: id, created: false, last_seq: 2 },
    });
    const { body } = await call('POST', '/sessions');
    expect(body).toEqual({ session_id: expect.stringMatching(/^[0-9a-f-]{36}$/), created: true, last_seq: 0 });
  });

  it('shows a session as its log has it', async () => {
    const id = await session();
    await call('POST', `/sessions/${id}/inputs`, { text: 'hello', input_id: 'i1' });
    expect((await call('GET', `/sessions/${id}`)).body).toMatchObject({
      session_id: id,
      status: 'idle',
      title: null,
      last_seq: 1,
      turn: null,
      inbox: [{ input_id: 'i1', text: 'hello' }],
      usage: { steps: 0 },
      messages: 0,
      agent: null,
    });
    await rig.append(id, [{ type: 'turn/start', payload: { turn_id: 't1', agent: id, input_id: 'i1', epoch: 0 } }]);
    await rig.append(id, [
      { type: 'step/start', payload: { n: 1, model: 'a/b', request_digest: 'd' } },
      { type: 'user/message', payload: { text: 'hello', input_id: 'i1' } },
    ]);
    expect((await call('GET', `/sessions/${id}`)).body).toMatchObject({
      status: 'running',
      turn: { turn_id: 't1', start_seq: 2 },
      inbox: [],
      messages: 1,
    });
  });

  it('reads events in pages', async () => {
    const id = await session();
    await rig.chunks(id, 5);
    await call('POST', `/sessions/${id}/inputs`, { text: 'x' });
    const stored = await rig.log(id);
    expect(await call('GET', `/sessions/${id}/events?from_seq=2&limit=3`)).toEqual({
      status: 200,
      body: { events: stored.slice(2, 5), next_seq: 5, last_seq: 6 },
    });
    expect((await call('GET', `/sessions/${id}/events?facts_only=true`)).body).toMatchObject({
      events: [stored[0], stored[6]],
      next_seq: null,
    });
  });

  it('queues an input once, however often it is sent', async () => {
    const id = await session();
    for (let i = 0; i < 3; i++) {
      expect(await call('POST', `/sessions/${id}/inputs`, { text: 'hello', input_id: 'i1' })).toEqual({
        status: 202,
        body: { input_id: 'i1' },
      });
    }
    await call('POST', `/sessions/${id}/inputs`, { text: 'aside', wake: false });
    expect((await rig.log(id)).slice(1).map(({ payload }) => payload)).toMatchObject([
      { input_id: 'i1', wake: true },
      { text: 'aside', wake: false },
    ]);
  });

  it('cancels the open turn, and says when none is open', async () => {
    const id = await session();
    expect(await call('POST', `/sessions/${id}/cancel`)).toEqual(refusal(409, 'not_running'));
    await rig.append(id, [{ type: 'turn/start', payload: { turn_id: 't1', agent: id, epoch: 0 } }]);
    expect(await call('POST', `/sessions/${id}/cancel`, { reason: 'enough' })).toEqual({ status: 202, body: {} });
    expect((await rig.log(id)).at(-1)).toMatchObject({
      type: 'turn/cancel_requested',
      payload: { turn_id: 't1', reason: 'enough' },
    });
    expect((await call('GET', `/sessions/${id}`)).body).toMatchObject({ status: 'stopping' });
  });
});

describe('refusals over HTTP', () => {
  it.each([
    ['GET', ''],
    ['GET', '/events'],
    ['POST', '/inputs'],
    ['POST', '/cancel'],
  ])('401 without a token, with a wrong one, and with another session’s: %s /sessions/:id%s', async (method, rest) => {
    const id = await session();
    for (const token of [undefined, 'token-of-nothing', TOKENS.team]) {
      const body = method === 'POST' ? { text: 'x' } : undefined;
      // An undefined token takes the default: say it with an empty one.
      const answer = await call(method, `/sessions/${id}${rest}`, body, { token: token ?? '' });
      expect(answer).toEqual(refusal(401, 'unauthorized', /Authorization: Bearer/));
    }
    expect(await rig.log(id)).toHaveLength(1);
  });

  it('401 for creating a session outside of what the token covers, named or not', async () => {
    const token = { token: TOKENS.team };
    expect((await call('POST', '/sessions', { session_id: fresh('team') }, token)).status).toBe(201);
    expect(await call('POST', '/sessions', { session_id: fresh() }, token)).toEqual(refusal(401, 'unauthorized'));
    expect(await call('POST', '/sessions', {}, token)).toEqual(refusal(401, 'unauthorized'));
  });

  it('403 for speaking with a token that may only read', async () => {
    const id = await session();
    const token = { token: TOKENS.reader };
    expect((await call('GET', `/sessions/${id}`, undefined, token)).status).toBe(200);
    expect((await call('GET', `/sessions/${id}/events`, undefined, token)).status).toBe(200);
    for (const path of ['/sessions', `/sessions/${id}/inputs`, `/sessions/${id}/cancel`]) {
      expect(await call('POST', path, { text: 'x' }, token)).toEqual(refusal(403, 'forbidden', /capability steer/));
    }
    expect(await rig.log(id)).toHaveLength(1);
  });

  it('404 for a session that does not exist, and for a path that does not', async () => {
    const id = fresh();
    expect(await call('GET', `/sessions/${id}`)).toEqual(refusal(404, 'unknown_session', id));
    expect(await call('GET', `/sessions/${id}/events`)).toEqual(refusal(404, 'unknown_session'));
    expect(await call('POST', `/sessions/${id}/inputs`, { text: 'x' })).toEqual(refusal(404, 'unknown_session'));
    expect(await call('POST', `/sessions/${id}/cancel`, {})).toEqual(refusal(404, 'unknown_session'));
    expect(await call('GET', '/nowhere')).toEqual(refusal(404, 'not_found', /\/nowhere/));
  });

  it.each(['a.b', '%24fleet', 'x'.repeat(129)])('400 for the session id %s', async (id) => {
    expect(await call('GET', `/sessions/${id}`)).toEqual(refusal(400, 'invalid_id', /A-Z a-z 0-9 _ -/));
    const named = decodeURIComponent(id);
    expect(await call('POST', '/sessions', { session_id: named })).toEqual(refusal(400, 'invalid_id'));
  });

  it.each<[string, unknown, RegExp]>([
    ['no body', undefined, /./],
    ['an array', [], /./],
    ['no text', {}, /text/],
    ['text that is none', { text: 5 }, /text/],
    ['wake that is none', { text: 'x', wake: 'yes' }, /wake/],
    ['an empty input_id', { text: 'x', input_id: '' }, /input_id/],
    ['what is not JSON', '{"text":', /JSON/],
    ['NaN', '{"text":NaN}', /JSON/],
    ['bytes that are not UTF-8', Buffer.from([...Buffer.from('{"text":"'), 0xc3, 0x28, 0x22, 0x7d]), /UTF-8/],
  ])('400 for %s as an input; nothing is appended', async (_, body, message) => {
    const id = await session();
    expect(await call('POST', `/sessions/${id}/inputs`, body)).toEqual(refusal(400, 'bad_request', message));
    expect(await rig.log(id)).toHaveLength(1);
  });

  it('400 for ill-formed Unicode in an input; nothing is appended', async () => {
    const id = await session();
    const answer = await call('POST', `/sessions/${id}/inputs`, '{"text":"\\ud800"}');
    expect(answer).toEqual(refusal(400, 'invalid_event', /text/));
    expect(await rig.log(id)).toHaveLength(1);
  });

  it.each(['from_seq=-1', 'from_seq=x', 'from_seq=1.5', 'limit=0', 'limit=1000000', 'facts_only=maybe'])(
    '400 for events?%s',
    async (query) => {
      const id = await session();
      const [field] = query.split('=');
      expect(await call('GET', `/sessions/${id}/events?${query}`)).toEqual(
        refusal(400, 'bad_request', new RegExp(`^${field}`)),
      );
    },
  );

  it('413 for an input above the log’s limit and for a body above the server’s; the service lives on', async () => {
    const id = await session();
    expect(await call('POST', `/sessions/${id}/inputs`, { text: 'x'.repeat(600_000) })).toEqual(
      refusal(413, 'too_large', /bytes/),
    );
    expect(await call('POST', `/sessions/${id}/inputs`, { text: 'x'.repeat(2 * 1024 * 1024) })).toEqual(
      refusal(413, 'too_large', /1048576/),
    );
    expect(await rig.log(id)).toHaveLength(1);
    expect((await call('GET', `/sessions/${id}`)).status).toBe(200);
  });

  it('415 for a body that does not say it is JSON', async () => {
    const id = await session();
    const answer = await call('POST', `/sessions/${id}/inputs`, '<text/>', { type: 'application/xml' });
    expect(answer).toEqual(refusal(415, 'unsupported_media_type', /application\/json/));
  });
});
