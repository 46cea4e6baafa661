import { afterEach, describe, expect, it } from '@jest/globals';
import { ModelError } from '@longrein/model';
import { InProcessTools } from '@longrein/tools/memory';
import type { LoopFixture } from '../testing/loop-fixture.js';
import { memoryFixture } from '../testing/memory-deployment.js';
import { ScriptedModel } from '../testing/scripted-model.js';

let loop: LoopFixture;

afterEach(() => loop.stop());

function toolbox(): InProcessTools {
  const tools = new InProcessTools();
  tools.add(
    { name: 'add', description: 'Adds.', input_schema: { type: 'object' } },
    ((args: { a: number; b: number }) => args.a + args.b) as never,
  );
  return tools;
}

const call = (id: string, name = 'add', args: unknown = { a: 1, b: 2 }) => ({ id, name, args });

describe('a turn', () => {
  it('TRN-05 logs a plain answer in the order of the document', async () => {
    loop = memoryFixture({ model: new ScriptedModel({ text: ['Hel', 'lo'] }) });
    const session = await loop.session('s');
    await loop.start();
    await session.inject('hi');
    await session.until('turn/end');
    expect(await session.types()).toEqual([
      'session/created',
      'input/queued',
      'turn/start',
      'step/start',
      'user/message',
      'assistant/message',
      'step/end',
      'turn/end',
    ]);
    expect(await session.payloads('turn/end')).toMatchObject([{ status: 'completed' }]);
    expect((await session.payloads('assistant/chunk')).map(({ text }) => text).join('')).toBe('Hello');
  });

  it('TRN-06 runs a tool in step one and answers in step two', async () => {
    const model = new ScriptedModel({ text: 'Let me add.', calls: [call('c1')] }, { text: '3' });
    loop = memoryFixture({ model, tools: toolbox() });
    const session = await loop.session('s');
    await loop.start();
    await session.inject('1+2?');
    await session.until('turn/end');
    expect((await session.types()).slice(2)).toEqual([
      'turn/start',
      'context/tools',
      'step/start',
      'user/message',
      'assistant/message',
      'tool/call',
      'tool/started',
      'tool/result',
      'step/end',
      'step/start',
      'assistant/message',
      'step/end',
      'turn/end',
    ]);
    expect(await session.payloads('tool/result')).toMatchObject([{ id: 'c1', content: 3, error: null }]);
    expect(model.requests[1]?.messages.at(-1)).toEqual({ role: 'tool', id: 'c1', content: 3, error: null });
  });

  it('TRN-03 TRN-04 stops at 25 steps: 24 calls and an answer complete, a 26th step fails the turn', async () => {
    const model = new ScriptedModel(...Array.from({ length: 24 }, (_, n) => ({ calls: [call(`c${n}`)] })), {
      text: 'done',
    });
    loop = memoryFixture({ model, tools: toolbox() });
    const session = await loop.session('s');
    await loop.start();
    await session.inject('go');
    await session.until('turn/end');
    expect(await session.payloads('step/start')).toHaveLength(25);
    expect(await session.payloads('turn/end')).toMatchObject([{ status: 'completed' }]);

    model.then(...Array.from({ length: 26 }, (_, n) => ({ calls: [call(`d${n}`)] })));
    await session.inject('again');
    await session.until('turn/end', 2);
    expect(await session.payloads('step/start')).toHaveLength(50);
    expect((await session.payloads('turn/end'))[1]).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('25'),
    });
  });

  it('TRN-11 RES-16 a provider that throws fails the turn with the reason, and the next turn runs', async () => {
    const model = new ScriptedModel(
      { text: 'half', error: new ModelError('stream_cut', 'the stream was cut', true) },
      { text: 'ok' },
    );
    loop = memoryFixture({ model });
    const session = await loop.session('s');
    await loop.start();
    await session.inject('one');
    await session.until('turn/end');
    expect((await session.types()).at(-1)).toBe('turn/end');
    expect(await session.payloads('turn/end')).toMatchObject([{ status: 'failed', reason: 'the stream was cut' }]);
    expect(await session.payloads('assistant/message')).toEqual([]);
    await session.inject('two');
    await session.until('turn/end', 2);
    expect((await session.payloads('turn/end'))[1]).toMatchObject({ status: 'completed' });
  });

  it('TRN-14 TRN-15 records the resolved model, and usage only where the provider reported it', async () => {
    const usage = { prompt_tokens: 10, completion_tokens: 5, cost: 0.25 };
    loop = memoryFixture({ model: new ScriptedModel({ calls: [call('c1')], usage }, { text: 'x' }), tools: toolbox() });
    const session = await loop.session('s');
    await loop.start();
    await session.inject('hi');
    await session.until('turn/end');
    expect(await session.payloads('step/start')).toMatchObject([
      { n: 1, model: 'test/model' },
      { n: 2, model: 'test/model' },
    ]);
    expect(await session.payloads('step/end')).toEqual([{ n: 1, usage }, { n: 2 }]);
  });

  it('fails a turn with a clear reason where no model is configured', async () => {
    loop = memoryFixture({ model: new ScriptedModel(), models: {} });
    const session = await loop.session('s');
    await loop.start();
    await session.inject('hi');
    await session.until('turn/end');
    expect(await session.payloads('turn/end')).toMatchObject([
      { status: 'failed', reason: expect.stringContaining('main') },
    ]);
  });

  it('fails a new turn when the running fold differs from the log', async () => {
    // The loop does not know the rule that the log scrubs by, so that it folds another text than what is stored.
    const model = new ScriptedModel({ text: 'my secret-token-1' }, { text: 'fine' });
    loop = memoryFixture({ model, log: { scrubbers: [{ pattern: 'secret-token-\\d' }] } });
    const session = await loop.session('s');
    await loop.start();
    await session.inject('one');
    await session.until('turn/end');
    await session.inject('two');
    await session.until('turn/end', 2);
    expect((await session.payloads('turn/end'))[1]).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('history'),
    });
    await session.inject('three');
    await session.until('turn/end', 3);
    expect((await session.payloads('turn/end'))[2]).toMatchObject({ status: 'completed' });
  });

  it('starts no turn for an input without a grant in a session that belongs to an agent', async () => {
    const model = new ScriptedModel({ text: 'granted' });
    loop = memoryFixture({ model });
    const session = await loop.session('s');
    await loop.start();
    await session.append('registry', 'session/configured', {
      agent_id: 'a',
      generation: 1,
      spec: { system_prompt: 'Be kind.' },
    });
    await session.inject('not granted');
    await session.inject('go', { grant: { agent_turn_id: 'at1', generation: 1 } });
    await session.until('turn/end');
    expect(await session.payloads('turn/start')).toMatchObject([{ turn_id: 'at1', agent: 'a', input_id: 'i2' }]);
    expect(await session.payloads('context/injected')).toMatchObject([{ input_id: 'i1' }]);
    expect(model.requests).toHaveLength(1);
    expect(model.requests[0]).toMatchObject({ system: 'Be kind.' });
  });
});
