import { afterEach, describe, expect, it } from '@jest/globals';
import { derivedRequestDigest, fold } from '@longrein/session';
import type { LoopFixture } from '../testing/loop-fixture.js';
import { memoryFixture } from '../testing/memory-deployment.js';
import { violations } from '../testing/invariants.js';
import { ScriptedModel } from '../testing/scripted-model.js';
import { scriptedTools } from '../testing/tool-script.js';

let loop: LoopFixture;

afterEach(() => loop.stop());

const scrub = [{ pattern: 'sk-[a-z0-9]{6}', max_length: 9 }];

describe('secrets in a session', () => {
  it('RED-01 RED-02 RED-04 are scrubbed wherever they come from, and the model sees what is stored', async () => {
    const tools = scriptedTools({
      leak: () => ({ 'key sk-tool01': 'value sk-tool02' }),
      fail: () => {
        throw new Error('no sk-err001');
      },
    });
    const calls = [
      { id: 'c0', name: 'leak', args: { 'sk-arg001': 'sk-arg002' } },
      { id: 'c1', name: 'fail' },
    ];
    const model = new ScriptedModel({ text: 'trying', calls }, { text: 'ok' }, { text: 'ok' });
    loop = memoryFixture({ model, tools, scrub });
    const session = await loop.session('s');
    await session.inject('steer sk-steer1', { wake: false });
    await session.inject('user sk-user01');
    await loop.start();
    await session.until('turn/end');
    await session.inject('again');
    await session.until('turn/end', 2);
    expect(JSON.stringify(await session.events())).not.toMatch(/sk-/);
    expect(JSON.stringify(model.requests)).not.toMatch(/sk-/);
    expect(tools.executed[0]?.args).toEqual({ 'sk-arg001': 'sk-arg002' });
    expect(violations(await session.events(), { settled: true })).toEqual([]);
  });

  it('RED-08 a secret split over deltas reaches no chunk, and the chunks are the message', async () => {
    const text = `first ${'word '.repeat(100)}sk-abc123 and ${'more '.repeat(100)}end`;
    const deltas = [...text].flatMap((_, index) => (index % 3 === 0 ? [text.slice(index, index + 3)] : []));
    loop = memoryFixture({ model: new ScriptedModel({ text: deltas }), scrub });
    const session = await loop.session('s');
    await loop.start();
    await session.inject('go');
    await session.until('turn/end');
    const chunks = (await session.payloads<{ text: string }>('assistant/chunk')).map((chunk) => chunk.text);
    const [message] = await session.payloads<{ parts: { text: string }[] }>('assistant/message');
    expect(chunks.length).toBeGreaterThan(1);
    expect(chunks.join('')).toBe(message?.parts[0]?.text);
    expect(message?.parts[0]?.text).toContain('[redacted] and more');
  });

  it('the digest in step/start is that of the history as stored', async () => {
    loop = memoryFixture({ model: new ScriptedModel({ text: 'ok' }), scrub });
    const session = await loop.session('s');
    await loop.start();
    await session.inject('my key is sk-user01');
    await session.until('turn/end');
    const events = await session.events();
    const claim = events.slice(0, events.findIndex(({ type }) => type === 'user/message') + 1);
    const [start] = await session.payloads('step/start');
    expect(start?.['request_digest']).toBe(derivedRequestDigest(fold(claim), { model: 'test/model' }));
  });
});
