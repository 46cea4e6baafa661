import { tmpdir } from 'node:os';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { EXIT, run } from '@longrein/cli-app';
import type { EventEnvelope } from '@longrein/events';
import { freePort } from '@longrein/testing';
import { GatewayRig, TOKENS } from './gateway-rig.js';

let rig: GatewayRig;
let url: string;
let count = 0;

const fresh = (): string => `cli-${++count}`;

beforeAll(async () => {
  rig = await GatewayRig.start();
  url = await rig.gateway({ LONGREIN_REPLAY_LIMIT: '100' });
});

const running: Cli[] = [];

afterEach(async () => {
  for (const cli of running.splice(0)) await cli.interrupt();
});

afterAll(() => rig?.stop());

/** One run of the program inside the test's process. */
class Cli {
  out = '';
  err = '';
  readonly exit: Promise<number>;
  private readonly interrupted = new AbortController();
  private wake = (): void => undefined;

  constructor(args: readonly string[], env: Record<string, string> = {}) {
    this.exit = run(args, {
      env: { LONGREIN_URL: url, LONGREIN_TOKEN: TOKENS.all, ...env },
      cwd: tmpdir(),
      out: (text) => {
        this.out += text;
        this.wake();
      },
      err: (text) => {
        this.err += text;
        this.wake();
      },
      drained: async () => undefined,
      signal: this.interrupted.signal,
    });
    running.push(this);
  }

  /** Waits until the output is as wanted. */
  async until(holds: (cli: Cli) => boolean): Promise<void> {
    let ended = false;
    void this.exit.then(() => {
      ended = true;
      this.wake();
    });
    while (!holds(this)) {
      if (ended) throw new Error(`ended before that; it said: ${this.out}${this.err}`);
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  /** The events printed as lines of JSON. */
  get events(): EventEnvelope[] {
    return this.out.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as EventEnvelope]));
  }

  interrupt(): Promise<number> {
    this.interrupted.abort();
    return this.exit;
  }
}

async function ran(args: readonly string[], env?: Record<string, string>): Promise<[number, string, string]> {
  const cli = new Cli(args, env);
  const code = await cli.exit;
  return [code, cli.out, cli.err];
}

/** Plays the loop: takes the session's oldest waking input through a turn. */
async function playTurn(session: string, answer: string, status = 'completed'): Promise<number> {
  const input = (await rig.log(session)).findLast(({ type }) => type === 'input/queued');
  const { input_id, text } = input!.payload as { input_id: string; text: string };
  const turn_id = `turn-${input_id}`;
  await rig.append(session, [
    { type: 'turn/start', payload: { turn_id, agent: session, input_id, epoch: 0 } },
    { type: 'step/start', payload: { n: 1, model: 'a/b', request_digest: 'd' } },
    { type: 'user/message', payload: { text, input_id } },
  ]);
  for (const word of answer.split(/(?<= )/)) {
    await rig.append(session, [{ type: 'assistant/chunk', payload: { text: word } }]);
  }
  return rig.append(session, [
    { type: 'assistant/message', payload: { parts: [{ type: 'text', text: answer }] } },
    { type: 'step/end', payload: { n: 1 } },
    { type: 'turn/end', payload: { turn_id, status, ...(status === 'failed' && { reason: 'the model is away' }) } },
  ]);
}

async function inputQueued(session: string): Promise<void> {
  const stop = new AbortController();
  for await (const { type } of rig.worker.follow(session, { from_seq: 0, signal: stop.signal })) {
    if (type === 'input/queued') stop.abort();
  }
}

describe('longrein session', () => {
  it('creates a session once', async () => {
    const id = fresh();
    expect(await ran(['session', 'create', id])).toEqual([EXIT.ok, `${id}\n`, '']);
    expect(await ran(['session', 'create', id])).toEqual([EXIT.ok, `${id} (was there already)\n`, '']);
    const [code, out] = await ran(['session', 'create', '--json']);
    expect([code, JSON.parse(out)]).toEqual([
      EXIT.ok,
      { session_id: expect.stringMatching(/^[0-9a-f-]{36}$/), created: true, last_seq: 0 },
    ]);
  });

  it('shows a session', async () => {
    const id = fresh();
    await ran(['session', 'inject', id, 'hello', '--no-wake']);
    const [code, out] = await ran(['session', 'show', id]);
    expect(code).toBe(EXIT.ok);
    expect(out).toContain(`session   ${id}\n`);
    expect(out).toContain('queued    hello (for the next step)\n');
    const [, json] = await ran(['session', 'show', id, '--json']);
    expect(JSON.parse(json)).toMatchObject({ session_id: id, status: 'idle', inbox: [{ text: 'hello', wake: false }] });
  });

  it('injects: creates the session, wakes by default, and keeps a named input one', async () => {
    const id = fresh();
    for (let i = 0; i < 2; i++) {
      expect(await ran(['session', 'inject', id, 'hello', '--input-id', 'i1'])).toEqual([
        EXIT.ok,
        'queued as input i1\n',
        '',
      ]);
    }
    await ran(['session', 'inject', id, 'aside', '--no-wake']);
    expect((await rig.log(id)).slice(1).map(({ payload }) => payload)).toMatchObject([
      { input_id: 'i1', text: 'hello', wake: true },
      { text: 'aside', wake: false },
    ]);
  });

  it('waits for the answer', async () => {
    const id = fresh();
    const cli = new Cli(['session', 'inject', id, 'hello', '--wait', '--input-id', 'i1']);
    await rig.worker.create(id);
    await inputQueued(id);
    await playTurn(id, 'Hello, who are you?');
    expect([await cli.exit, cli.out, cli.err]).toEqual([EXIT.ok, 'Hello, who are you?\n', '']);
    // The same input again is answered from the log.
    const [code, out] = await ran(['session', 'inject', id, 'hello', '--wait', '--input-id', 'i1', '--json']);
    expect([code, JSON.parse(out)]).toEqual([
      EXIT.ok,
      { input_id: 'i1', turn_id: 'turn-i1', status: 'completed', text: 'Hello, who are you?' },
    ]);
  });

  it('says how a turn ended that was waited for in vain', async () => {
    const id = fresh();
    const cli = new Cli(['session', 'inject', id, 'hello', '--wait']);
    await rig.worker.create(id);
    await inputQueued(id);
    await playTurn(id, 'I', 'failed');
    expect([await cli.exit, cli.out, cli.err]).toEqual([
      EXIT.turn_not_completed,
      'I\n',
      'longrein: the turn ended failed: the model is away\n',
    ]);
  });

  it('cancels the open turn', async () => {
    const id = fresh();
    await ran(['session', 'create', id]);
    expect(await ran(['session', 'cancel', id])).toEqual([EXIT.failed, '', 'longrein: no turn is open\n']);
    await rig.append(id, [{ type: 'turn/start', payload: { turn_id: 't1', agent: id, epoch: 0 } }]);
    expect((await ran(['session', 'cancel', id, '--reason', 'enough']))[0]).toBe(EXIT.ok);
    expect((await rig.log(id)).at(-1)).toMatchObject({ payload: { turn_id: 't1', reason: 'enough' } });
  });

  it('tails for people, as it happens, until Ctrl-C', async () => {
    const id = fresh();
    await ran(['session', 'inject', id, 'hello']);
    const cli = new Cli(['session', 'tail', id]);
    await cli.until(({ out }) => out.includes('queued: hello'));
    await playTurn(id, 'Hi there.');
    await cli.until(({ out }) => out.includes('-- turn completed'));
    expect(await cli.interrupt()).toBe(EXIT.interrupted);
    expect(cli.out).toBe(`# session ${id}\n· queued: hello\n\nyou> hello\nHi there.\n-- turn completed\n`);
    expect(cli.err).toBe('');
  });

  it('tails from a seq, and from before what the gateway replays, without gap or duplicate', async () => {
    const id = fresh();
    await ran(['session', 'create', id]);
    const end = await rig.chunks(id, 350);
    for (const from of [0, 300]) {
      const cli = new Cli(['session', 'tail', id, '--json', '--from', String(from)]);
      await cli.until(({ out }) => out.includes(`"seq":${end},`));
      expect(cli.events).toEqual((await rig.log(id)).slice(from));
    }
  });

  it('goes on from the last event printed when the gateway is replaced, on another moment of the stream', async () => {
    const id = fresh();
    const port = String(await freePort());
    await rig.worker.create(id);
    await rig.gateway({ PORT: port });
    const cli = new Cli(['session', 'tail', id, '--json'], { LONGREIN_URL: `http://127.0.0.1:${port}` });
    let end = await rig.chunks(id, 100);
    for (let round = 1; round <= 3; round++) {
      await cli.until(({ out }) => out.includes(`"seq":${end - 40},`));
      await rig.stopGateway(port);
      end = await rig.chunks(id, 100);
      await cli.until(({ err }) => err.split('lost the connection').length > round);
      await rig.gateway({ PORT: port });
      await cli.until(({ out }) => out.includes(`"seq":${end},`));
    }
    expect(cli.events).toEqual(await rig.log(id));
    expect(cli.err).toMatch(/^longrein: lost the connection to http:\/\/127.0.0.1:\d+.*going on from seq \d+/);
  });

  it('watches without superseding whoever steers the agent', async () => {
    const id = fresh();
    const steering = await rig.open(url, id);
    const cli = new Cli(['session', 'tail', id, '--json']);
    await cli.until(({ out }) => out.includes('session/created'));
    expect(await steering.settled()).toEqual([]);
  });
});

describe('longrein says in one line what is wrong', () => {
  it.each<[string, string[], Record<string, string>, number, RegExp]>([
    ['no session', ['session', 'show', 'nowhere'], {}, EXIT.unknown_session, /session nowhere/],
    ['no session to tail', ['session', 'tail', 'nowhere'], {}, EXIT.unknown_session, /session nowhere/],
    ['a bad id', ['session', 'show', 'a.b'], {}, EXIT.usage, /A-Z a-z 0-9 _ -/],
    ['no token', ['session', 'show', 'x'], { LONGREIN_TOKEN: '' }, EXIT.refused, /--token or LONGREIN_TOKEN/],
    ['a wrong token', ['session', 'tail', 'x'], { LONGREIN_TOKEN: 'nonsense' }, EXIT.refused, /not accepted/],
    [
      'a token that may not',
      ['session', 'create', 'x'],
      { LONGREIN_TOKEN: TOKENS.reader },
      EXIT.refused,
      /capability steer/,
    ],
    ['a negative seq', ['session', 'tail', 'x', '--from', '-1'], {}, EXIT.usage, /must be a seq/],
    ['an unknown option', ['session', 'show', 'x', '--loud'], {}, EXIT.usage, /--loud/],
    ['a missing argument', ['session', 'inject', 'x'], {}, EXIT.usage, /missing required argument 'text'/],
    ['no gateway', ['session', 'show', 'x'], { LONGREIN_URL: 'http://127.0.0.1:1' }, EXIT.unreachable, /is it running/],
    [
      'no gateway to tail',
      ['session', 'tail', 'x'],
      { LONGREIN_URL: 'http://127.0.0.1:1' },
      EXIT.unreachable,
      /running/,
    ],
  ])('%s', async (_, args, env, code, message) => {
    const [exit, out, err] = await ran(args, env);
    expect([exit, out]).toEqual([code, '']);
    expect(err).toMatch(message);
    expect(err.trimEnd().split('\n')).toHaveLength(1);
  });

  it('documents its exit codes', async () => {
    const [code, out] = await ran(['session', 'tail', '--help']);
    expect(code).toBe(EXIT.ok);
    expect(out).toMatch(/Exit codes:[^]*5 {2}the session does not exist/);
  });
});
