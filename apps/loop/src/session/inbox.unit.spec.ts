import { afterEach, describe, expect, it } from '@jest/globals';
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
}

const count = async (type: string): Promise<number> => (await session.payloads(type)).length;

describe('the inbox', () => {
  it('INJ-01 INJ-02 TRN-10 a steer waits, starts nothing, and rides the next turn after its own input', async () => {
    await begin({ model: new ScriptedModel({ text: 'ok' }) });
    await session.inject('by the way', { wake: false });
    await session.inject('hello');
    await session.until('turn/end');
    expect(await count('turn/start')).toBe(1);
    const types = await session.types();
    expect(types.slice(1, 3)).toEqual(['input/queued', 'input/queued']);
    expect(types.slice(4, 7)).toEqual(['step/start', 'user/message', 'context/injected']);
  });

  it('INJ-03 a steer that arrives inside a tool lands in the next step of the same turn', async () => {
    const tools = scriptedTools({ a: () => session.inject('hurry', { wake: false }).then(() => 'a') });
    await begin({ model: new ScriptedModel({ calls: [{ id: 'c', name: 'a' }] }, { text: 'ok' }), tools });
    await session.inject('go');
    await session.until('turn/end');
    expect(await count('turn/start')).toBe(1);
    const types = await session.types();
    expect(types.indexOf('context/injected')).toBeGreaterThan(types.lastIndexOf('step/start'));
  });

  it('INJ-04 a waking input on an idle session starts a turn and is its user message', async () => {
    await begin({ model: new ScriptedModel({ text: 'ok' }) });
    const input_id = await session.inject('hello');
    await session.until('turn/end');
    expect(await session.payloads('turn/start')).toMatchObject([{ input_id }]);
    expect(await session.payloads('user/message')).toEqual([{ text: 'hello', input_id }]);
  });

  it('INJ-05 a waking input steers a turn that is running', async () => {
    const tools = scriptedTools({ a: () => session.inject('and this').then(() => 'a') });
    await begin({ model: new ScriptedModel({ calls: [{ id: 'c', name: 'a' }] }, { text: 'ok' }), tools });
    await session.inject('go');
    await session.until('turn/end');
    expect(await count('turn/start')).toBe(1);
    expect(await session.payloads('context/injected')).toMatchObject([{ text: 'and this' }]);
  });

  it('INJ-06 of two waking inputs in one burst one wins and the other rides along', async () => {
    loop = memoryFixture({ model: new ScriptedModel({ text: 'one' }, { text: 'two' }) });
    session = await loop.session('s');
    await session.inject('first');
    await session.inject('second');
    await loop.start();
    await session.until('turn/end');
    expect(await session.payloads('user/message')).toMatchObject([{ text: 'first' }]);
    expect(await session.payloads('context/injected')).toMatchObject([{ text: 'second' }]);
    expect(await count('turn/start')).toBe(1);
  });

  it('INJ-07 a waking input still unconsumed when the turn ends starts the next one at once', async () => {
    const late = { text: 'bye', during: () => session.inject('wait') };
    await begin({ model: new ScriptedModel(late, { text: 'yes?' }) });
    await session.inject('hi');
    await session.until('turn/end', 2);
    expect((await session.payloads('user/message')).map(({ text }) => text)).toEqual(['hi', 'wait']);
    expect(await session.payloads('turn/end')).toMatchObject([{ status: 'completed' }, { status: 'completed' }]);
  });

  it('TRN-02 never opens a second turn while one runs, however many waking inputs arrive', async () => {
    const burst = {
      text: 'x',
      before: () => Promise.all([session.inject('a'), session.inject('b'), session.inject('c')]),
    };
    await begin({ model: new ScriptedModel(burst, { text: 'y' }) });
    await session.inject('hi');
    await session.until('turn/end', 2);
    let open = 0;
    for (const type of await session.types()) {
      open += type === 'turn/start' ? 1 : type === 'turn/end' ? -1 : 0;
      expect([0, 1]).toContain(open);
    }
    const consumed = [...(await session.payloads('user/message')), ...(await session.payloads('context/injected'))];
    expect(consumed.map(({ input_id }) => input_id).sort()).toEqual(['i1', 'i2', 'i3', 'i4']);
  });

  it('a grant that was revoked before its turn started is started and ended cancelled, and asks no model', async () => {
    const model = new ScriptedModel();
    loop = memoryFixture({ model });
    session = await loop.session('s');
    await session.append('registry', 'session/configured', { agent_id: 'a', generation: 1, spec: {} });
    await session.inject('go', { grant: { agent_turn_id: 'at1', generation: 1 } });
    await session.append('registry', 'turn/cancel_requested', { turn_id: 'at1', reason: 'withdrawn' });
    await loop.start();
    await session.until('turn/end');
    expect(await session.payloads('turn/end')).toEqual([{ turn_id: 'at1', status: 'cancelled', reason: 'withdrawn' }]);
    expect(model.requests).toEqual([]);
  });
});
