import { afterEach, describe, expect, it } from '@jest/globals';
import { status } from '@longrein/session';
import { Gate } from '../testing/gate.js';
import type { LoopFixture } from '../testing/loop-fixture.js';
import { memoryFixture } from '../testing/memory-deployment.js';
import { ScriptedModel } from '../testing/scripted-model.js';
import type { SessionProbe } from '../testing/session-probe.js';
import { scriptedTools } from '../testing/tool-script.js';

let loop: LoopFixture;
let session: SessionProbe;

afterEach(() => loop.stop());

async function begin(options: Parameters<typeof memoryFixture>[0]): Promise<void> {
  loop = memoryFixture(options);
  session = await loop.session('s');
  await loop.start();
  await session.inject('go');
}

const calls = (...names: string[]) => names.map((name, index) => ({ id: `c${index}`, name, args: { index } }));

describe('cancelling a turn', () => {
  it('CAN-01 CAN-03 is honoured at the next step boundary; the status reads stopping until then', async () => {
    let stopping = '';
    const model = new ScriptedModel({
      text: 'a long answer',
      during: async () => {
        await session.cancel({ reason: 'enough' });
        stopping = status(await session.state());
      },
    });
    await begin({ model });
    await session.until('turn/end');
    expect(stopping).toBe('stopping');
    expect((await session.types()).slice(-4)).toEqual([
      'turn/cancel_requested',
      'assistant/message',
      'step/end',
      'turn/end',
    ]);
    expect(await session.payloads('turn/end')).toMatchObject([{ status: 'cancelled', reason: 'enough' }]);
    expect(status(await session.state())).toBe('idle');
  });

  it('CAN-02 inside a tool: its result and the step’s end are logged, no further request, the next turn unaffected', async () => {
    const tools = scriptedTools({ a: () => session.cancel().then(() => 'real') });
    const model = new ScriptedModel({ calls: calls('a') }, { text: 'next' });
    await begin({ model, tools });
    await session.until('turn/end');
    expect(await session.payloads('tool/result')).toMatchObject([{ content: 'real', error: null }]);
    expect((await session.types()).slice(-3)).toEqual(['tool/result', 'step/end', 'turn/end']);
    expect((await session.payloads('turn/end'))[0]).not.toHaveProperty('reason');
    expect(model.requests).toHaveLength(1);
    await session.inject('more');
    await session.until('turn/end', 2);
    expect((await session.payloads('turn/end'))[1]).toMatchObject({ status: 'completed' });
  });

  it('CAN-07 a serial call after the one that cancels does not run and says so', async () => {
    const tools = scriptedTools({ a: () => session.cancel().then(() => 'real'), b: () => 'never' });
    await begin({ model: new ScriptedModel({ calls: calls('a', 'b') }), tools });
    await session.until('turn/end');
    expect(tools.executed.map(({ name }) => name)).toEqual(['a']);
    expect(await session.payloads('tool/result')).toMatchObject([
      { id: 'c0', content: 'real', error: null },
      { id: 'c1', content: null, error: 'cancelled before execution' },
    ]);
  });

  it('CAN-08 the group in flight finishes with real results, later groups do not run, every call has a result in order', async () => {
    const other = new Gate();
    const tools = scriptedTools(
      {
        p: async ({ index }) => {
          if (index === 1) await session.cancel().then(() => other.open());
          await other.opened;
          return index;
        },
        s: () => 'never',
      },
      { p: { concurrency: 'parallel' } },
    );
    await begin({ model: new ScriptedModel({ calls: calls('p', 'p', 's', 'p') }), tools });
    await session.until('turn/end');
    expect(await session.payloads('tool/result')).toMatchObject([
      { id: 'c0', content: 0 },
      { id: 'c1', content: 1 },
      { id: 'c2', error: 'cancelled before execution' },
      { id: 'c3', error: 'cancelled before execution' },
    ]);
    expect(tools.executed).toHaveLength(2);
  });

  it('a hard cancel closes the model’s stream and ends the turn without its answer', async () => {
    const aborted = new Gate();
    const model = new ScriptedModel({
      text: 'half',
      during: async (signal) => {
        signal.addEventListener('abort', () => aborted.open());
        await session.cancel({ hard: true });
        await aborted.opened;
      },
    });
    await begin({ model });
    await session.until('turn/end');
    expect(await session.types()).not.toContain('assistant/message');
    expect(await session.payloads('turn/end')).toMatchObject([{ status: 'cancelled' }]);
  });

  it('a hard cancel does not wait for a tool: its call is answered as interrupted', async () => {
    const tools = scriptedTools({
      stuck: (_, signal) =>
        session
          .cancel({ hard: true })
          .then(
            () =>
              new Promise((_resolve, reject) =>
                signal?.addEventListener('abort', () => reject(signal.reason as Error)),
              ),
          ),
    });
    await begin({ model: new ScriptedModel({ calls: calls('stuck') }), tools });
    await session.until('turn/end');
    expect(await session.payloads('tool/result')).toMatchObject([
      { content: null, error: expect.stringContaining('interrupted') },
    ]);
    expect(await session.payloads('turn/end')).toMatchObject([{ status: 'cancelled' }]);
  });

  it('a cancel that names another turn has no effect', async () => {
    const model = new ScriptedModel({
      text: 'answer',
      during: () => session.append('gateway', 'turn/cancel_requested', { turn_id: 'another' }),
    });
    await begin({ model });
    await session.until('turn/end');
    expect(await session.payloads('turn/end')).toMatchObject([{ status: 'completed' }]);
  });
});
