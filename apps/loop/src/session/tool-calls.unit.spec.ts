import { afterEach, describe, expect, it } from '@jest/globals';
import { Gate } from '../testing/gate.js';
import type { LoopFixture } from '../testing/loop-fixture.js';
import { memoryFixture } from '../testing/memory-deployment.js';
import { ScriptedModel } from '../testing/scripted-model.js';
import type { SessionProbe } from '../testing/session-probe.js';
import { scriptedTools } from '../testing/tool-script.js';

let loop: LoopFixture;

afterEach(() => loop.stop());

const calls = (...names: string[]) => names.map((name, index) => ({ id: `c${index}`, name, args: { index } }));

async function run(
  tools: LoopFixture['tools'],
  names: string[],
  more: Partial<Parameters<typeof memoryFixture>[0]> = {},
): Promise<SessionProbe> {
  loop = memoryFixture({ model: new ScriptedModel({ calls: calls(...names) }, { text: 'done' }), tools, ...more });
  const session = await loop.session('s');
  await loop.start();
  await session.inject('go');
  return session;
}

describe('tool calls of one message', () => {
  it('TLP-10 TLP-14 parallel calls are in flight together, and results are logged in call order', async () => {
    const first = new Gate();
    const tools = scriptedTools(
      { slow: () => first.opened.then(() => 'slow'), fast: () => (first.open(), 'fast') },
      { slow: { concurrency: 'parallel' }, fast: { concurrency: 'parallel' } },
    );
    const session = await run(tools, ['slow', 'fast']);
    await session.until('turn/end');
    expect(tools.peak).toBe(2);
    expect((await session.payloads('tool/result')).map(({ content }) => content)).toEqual(['slow', 'fast']);
  });

  it('TLP-14 an outcome that comes before an earlier call’s is kept as tool/finished until its turn', async () => {
    const slow = new Gate();
    const tools = scriptedTools(
      { slow: () => slow.opened.then(() => 'slow'), fast: () => 'fast' },
      { slow: { concurrency: 'parallel' }, fast: { concurrency: 'parallel' } },
    );
    const session = await run(tools, ['slow', 'fast']);
    await session.until('tool/finished');
    slow.open();
    await session.until('turn/end');
    const types = (await session.types()).filter((type) => type.startsWith('tool/'));
    expect(types.slice(-3)).toEqual(['tool/finished', 'tool/result', 'tool/result']);
    expect(await session.payloads('tool/finished')).toMatchObject([{ call_id: 'c1', content: 'fast' }]);
  });

  it('TLP-11 serial and unspecified tools never overlap', async () => {
    const tools = scriptedTools({ a: async () => 'a', b: async () => 'b' });
    const session = await run(tools, ['a', 'b', 'a']);
    await session.until('turn/end');
    expect(tools.peak).toBe(1);
    expect((await session.payloads('tool/result')).map(({ content }) => content)).toEqual(['a', 'b', 'a']);
  });

  it('TLP-12 nothing crosses a serial call', async () => {
    const seen: string[] = [];
    const tools = scriptedTools(
      {
        p: ({ index }) => (seen.push(`p${String(index)}`), index),
        s: () => (seen.push(`s with ${tools.running()}`), 's'),
      },
      { p: { concurrency: 'parallel' } },
    );
    const session = await run(tools, ['p', 'p', 's', 'p', 'p']);
    await session.until('turn/end');
    expect(seen).toEqual(['p0', 'p1', 's with 1', 'p3', 'p4']);
    expect(await session.payloads('tool/result')).toHaveLength(5);
  });

  it('TLP-04 a tool that is not registered gives an ordinary error result', async () => {
    const session = await run(scriptedTools({}), ['nowhere']);
    await session.until('turn/end');
    expect(await session.payloads('tool/result')).toMatchObject([
      { content: null, error: expect.stringContaining('not registered') },
    ]);
    expect(await session.payloads('turn/end')).toMatchObject([{ status: 'completed' }]);
  });

  it('TLP-01 a hook’s veto is the result; the handler does not run and nothing is started', async () => {
    const tools = scriptedTools({ a: () => 'ran' });
    const session = await run(tools, ['a'], { hooks: { pre: [() => ({ veto: 'not today' })] } });
    await session.until('turn/end');
    expect(tools.executed).toEqual([]);
    expect(await session.types()).not.toContain('tool/started');
    expect(await session.payloads('tool/result')).toMatchObject([{ content: null, error: 'not today' }]);
    expect(await session.payloads('turn/end')).toMatchObject([{ status: 'completed' }]);
  });

  it('TLP-02 TLP-03 hooks may supply and rewrite the result', async () => {
    const tools = scriptedTools({ a: () => 'ran' });
    const session = await run(tools, ['a'], {
      hooks: {
        execute: [() => ({ content: 'substitute', error: null })],
        post: [(_, outcome) => ({ ...outcome, content: `${String(outcome.content)}!` })],
      },
    });
    await session.until('turn/end');
    expect(tools.executed).toEqual([]);
    expect(await session.payloads('tool/result')).toMatchObject([{ content: 'substitute!' }]);
  });

  it('TLP-16 a hook that throws around the middle call leaves its siblings their results', async () => {
    const tools = scriptedTools({ p: ({ index }) => index }, { p: { concurrency: 'parallel' } });
    const session = await run(tools, ['p', 'p', 'p'], {
      hooks: {
        execute: [
          ({ call }, next) => {
            if (call.call_id === 'c1') throw new Error('boom');
            return next();
          },
        ],
      },
    });
    await session.until('turn/end');
    expect(await session.payloads('tool/result')).toMatchObject([
      { content: 0, error: null },
      { content: null, error: expect.stringContaining('boom') },
      { content: 2, error: null },
    ]);
  });

  it('POL-05 POL-06 the policy in force when a call starts decides it, and a veto does not stop the turn', async () => {
    const tools = scriptedTools({
      a: () => session.append('policy', 'policy/updated', { patterns: ['b*'] }).then(() => 'a'),
    });
    loop = memoryFixture({
      model: new ScriptedModel({ calls: calls('a', 'a') }, { text: 'ok' }),
      tools,
      policy: ['*'],
    });
    const session = await loop.session('s');
    await loop.start();
    await session.inject('go');
    await session.until('turn/end');
    expect(await session.payloads('tool/result')).toMatchObject([
      { content: 'a', error: null },
      { content: null, error: expect.stringContaining('policy') },
    ]);
    expect(await session.payloads('turn/end')).toMatchObject([{ status: 'completed' }]);
  });

  it('a result that the log cannot keep becomes an error result', async () => {
    const secret = [{ pattern: 'key-\\d+' }];
    const tools = scriptedTools({ a: () => ({ 'key-1': 1, 'key-2': 2 }) });
    const session = await run(tools, ['a'], { scrub: secret });
    await session.until('turn/end');
    expect(await session.payloads('tool/result')).toMatchObject([
      { content: null, error: expect.stringContaining('cannot be stored') },
    ]);
    expect(await session.payloads('turn/end')).toMatchObject([{ status: 'completed' }]);
  });

  it('every execution carries the same idempotency key for the same call, its attempt and the epoch', async () => {
    const tools = scriptedTools({ a: () => 'a' });
    const session = await run(tools, ['a']);
    await session.until('turn/end');
    const started = await session.payloads('tool/started');
    expect(tools.executed).toMatchObject([
      { key: `s/${String(started[0]?.['call_seq'])}`, attempt: 1, epoch: started[0]?.['epoch'] },
    ]);
  });

  it('more calls than one append takes are all logged and answered, in order', async () => {
    const tools = scriptedTools({ p: ({ index }) => index }, { p: { concurrency: 'parallel' } });
    const session = await run(
      tools,
      Array.from({ length: 100 }, () => 'p'),
    );
    await session.until('turn/end');
    expect(await session.payloads('tool/call')).toHaveLength(100);
    expect((await session.payloads('tool/result')).map(({ content }) => content)).toEqual(
      Array.from({ length: 100 }, (_, n) => n),
    );
    expect(tools.peak).toBeLessThanOrEqual(16);
  });
});
