import { VirtualClock } from '@longrein/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { ModelError } from '@longrein/model';
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

const never = new Promise<never>(() => undefined);

/** A process that dies where `at` opens; the caller starts the next one. */
async function dieAt(options: Parameters<typeof memoryFixture>[0], at: Gate): Promise<void> {
  loop = memoryFixture(options);
  session = await loop.session('s');
  await loop.start();
  await session.inject('go');
  await at.opened;
  loop.crash();
}

describe('an open turn whose process died', () => {
  it('RES-02 RES-06 RES-07 RES-09 completes what it owes: answered calls stay, unanswered ones run again under the same key', async () => {
    const wedged = new Gate();
    let runs = 0;
    const tools = scriptedTools({ a: () => 'a', b: () => (++runs === 1 ? (wedged.open(), never) : 'b') });
    const calls = [
      { id: 'c0', name: 'a' },
      { id: 'c1', name: 'b' },
    ];
    const usage = { prompt_tokens: 1, completion_tokens: 1 };
    const model = new ScriptedModel({ calls, usage }, { text: 'done', usage });
    await dieAt({ model, tools }, wedged);
    await loop.start();
    await session.until('turn/end');
    expect(await session.payloads('turn/start')).toHaveLength(1);
    expect(await session.payloads('turn/end')).toMatchObject([{ status: 'completed' }]);
    expect(await session.payloads('turn/resumed')).toMatchObject([{ cause: 'death' }]);
    expect(tools.executed.map(({ name, attempt }) => `${name}${attempt}`)).toEqual(['a1', 'b1', 'b2']);
    expect(tools.executed[1]?.key).toBe(tools.executed[2]?.key);
    expect((await session.payloads('tool/result')).map(({ content }) => content)).toEqual(['a', 'b']);
    expect(await session.payloads('step/end')).toEqual([{ n: 1 }, { n: 2, usage }]);
  });

  it('a call that may not be repeated gets "outcome unknown" instead of a second run', async () => {
    const wedged = new Gate();
    const tools = scriptedTools({ pay: () => (wedged.open(), never) }, { pay: { repeatable: false } });
    await dieAt({ model: new ScriptedModel({ calls: [{ id: 'c', name: 'pay' }] }, { text: 'ok' }), tools }, wedged);
    await loop.start();
    await session.until('turn/end');
    expect(tools.executed).toHaveLength(1);
    expect(await session.payloads('tool/result')).toMatchObject([
      { content: null, error: expect.stringContaining('outcome unknown') },
    ]);
  });

  it('RES-11 a step without a reply stays unclosed, and numbering goes on past it', async () => {
    const asked = new Gate();
    const model = new ScriptedModel({ before: () => (asked.open(), never) }, { text: 'done' });
    await dieAt({ model }, asked);
    await loop.start();
    await session.until('turn/end');
    expect((await session.payloads('step/start')).map(({ n }) => n)).toEqual([1, 2]);
    expect((await session.payloads('step/end')).map(({ n }) => n)).toEqual([2]);
    expect(await session.payloads('user/message')).toHaveLength(1);
  });

  it('RES-14 RES-18 RES-19 with resume on_stimulus it waits for a waking input, which rides as context/injected', async () => {
    const asked = new Gate();
    const model = new ScriptedModel({ before: () => (asked.open(), never) }, { text: 'done' });
    await dieAt({ model, resume: 'on_stimulus' }, asked);
    const engine = await loop.start();
    await session.inject('still there?');
    await session.until('turn/end');
    expect(engine.load.partitions).toBe(1);
    expect(await session.payloads('turn/start')).toHaveLength(1);
    expect(await session.payloads('turn/resumed')).toMatchObject([{ cause: 'wake' }]);
    expect(await session.payloads('context/injected')).toMatchObject([{ text: 'still there?' }]);
  });

  it('RES-15 a resume that fails leaves the turn open and is tried again after a while', async () => {
    const clock = new VirtualClock();
    const asked = new Gate();
    const outage = { error: new ModelError('overloaded', 'provider down', true) };
    const model = new ScriptedModel({ before: () => (asked.open(), never) }, outage, { text: 'back' });
    await dieAt({ model, clock }, asked);
    await loop.start();
    await session.until('turn/handed_over');
    expect(await session.payloads('turn/handed_over')).toMatchObject([
      { reason: expect.stringContaining('provider down') },
    ]);
    expect(await session.types()).not.toContain('turn/end');
    await clock.whenPending();
    await clock.next();
    await session.until('turn/end');
    expect(await session.payloads('turn/end')).toMatchObject([{ status: 'completed' }]);
    expect(await session.payloads('turn/start')).toHaveLength(1);
  });

  it('RES-15 a waking input takes a failing resume up at once', async () => {
    const clock = new VirtualClock();
    const asked = new Gate();
    const outage = { error: new ModelError('overloaded', 'provider down', true) };
    const model = new ScriptedModel({ before: () => (asked.open(), never) }, outage, { text: 'back' });
    await dieAt({ model, clock }, asked);
    await loop.start();
    await session.until('turn/handed_over');
    await clock.whenPending();
    await session.inject('now?');
    await session.until('turn/end');
    expect((await session.payloads('turn/resumed')).map(({ cause }) => cause)).toEqual(['death', 'wake']);
  });

  it('stalls after the recovery limit, spends nothing more, and the next stimulus takes it up', async () => {
    let asked = new Gate();
    const model = new ScriptedModel(...Array.from({ length: 6 }, () => ({ before: () => (asked.open(), never) })));
    await dieAt({ model }, asked);
    for (let death = 1; death <= 5; death++) {
      asked = new Gate();
      await loop.start();
      await asked.opened;
      loop.crash();
    }
    await loop.start();
    await session.until('turn/stalled');
    expect(model.requests).toHaveLength(6);
    expect(status(await session.state())).toBe('stalled');
    model.then({ text: 'at last' });
    await session.inject('try again');
    await session.until('turn/end');
    expect(await session.payloads('turn/end')).toMatchObject([{ status: 'completed' }]);
  });

  it('RES-20 a call whose stored arguments were scrubbed is not replayed and says why; a faithful one runs', async () => {
    const wedged = new Gate();
    let runs = 0;
    const tools = scriptedTools(
      { a: () => (++runs > 2 ? 'a' : (runs === 2 && wedged.open(), never)) },
      { a: { concurrency: 'parallel' } },
    );
    const calls = [
      { id: 'c0', name: 'a', args: { key: 'secret-1' } },
      { id: 'c1', name: 'a', args: { key: 'public' } },
    ];
    await dieAt(
      { model: new ScriptedModel({ calls }, { text: 'ok' }), tools, scrub: [{ pattern: 'secret-\\d' }] },
      wedged,
    );
    expect(tools.executed[0]?.args).toEqual({ key: 'secret-1' });
    await loop.start();
    await session.until('turn/end');
    expect(await session.payloads('tool/result')).toMatchObject([
      { id: 'c0', content: null, error: expect.stringContaining('redacted') },
      { id: 'c1', content: 'a', error: null },
    ]);
  });

  it('RES-12 a turn that died after its final reply makes exactly one more request', async () => {
    loop = memoryFixture({ model: new ScriptedModel({ text: 'final' }, { text: 'wrapping up' }) });
    session = await loop.session('s');
    loop.deployment.as('gateway');
    const { faults } = (loop as ReturnType<typeof memoryFixture>).deployment.memory;
    const died = new Gate();
    faults.failNextAppend({
      at: 'before',
      code: 'fenced',
      match: ({ request }) => request.events.some(({ type }) => type === 'step/end') && (died.open(), true),
    });
    await loop.start();
    await session.inject('go');
    await died.opened;
    loop.crash();
    await loop.start();
    await session.until('turn/end');
    expect((await session.payloads('step/start')).map(({ n }) => n)).toEqual([1, 2]);
    expect(await session.payloads('turn/end')).toMatchObject([{ status: 'completed' }]);
  });
});

describe('a parked turn', () => {
  const tools = () => scriptedTools({ risky: () => 'done' }, { risky: { approval: 'always' } });
  const model = () => new ScriptedModel({ calls: [{ id: 'c', name: 'risky' }] }, { text: 'ok' });

  async function approve(verdict: 'approved' | 'denied', reason?: string): Promise<void> {
    const { seq } = await session.until('approval/requested');
    await session.append('approvals', 'approval/resolved', {
      call_id: 'c',
      request_seq: seq,
      verdict,
      ...(reason && { reason }),
    });
  }

  it('TRN-01 APR-05 APR-06 waits for the verdict, runs the call once, and ends idle', async () => {
    const toolbox = tools();
    loop = memoryFixture({ model: model(), tools: toolbox });
    session = await loop.session('s');
    await loop.start();
    await session.inject('go');
    await session.until('approval/requested');
    expect(status(await session.state())).toBe('waiting_approval');
    expect(toolbox.executed).toEqual([]);
    await approve('approved');
    await session.until('turn/end');
    expect(toolbox.executed).toHaveLength(1);
    expect(status(await session.state())).toBe('idle');
  });

  it('APR-07 a denial gives an error result that names the reason, and the turn goes on', async () => {
    const toolbox = tools();
    loop = memoryFixture({ model: model(), tools: toolbox });
    session = await loop.session('s');
    await loop.start();
    await session.inject('go');
    await approve('denied', 'too risky');
    await session.until('turn/end');
    expect(toolbox.executed).toEqual([]);
    expect(await session.payloads('tool/result')).toMatchObject([{ error: expect.stringContaining('too risky') }]);
    expect(await session.payloads('turn/end')).toMatchObject([{ status: 'completed' }]);
  });

  it('survives any number of restarts uncounted, and a verdict brings it on in another process', async () => {
    const toolbox = tools();
    loop = memoryFixture({ model: model(), tools: toolbox });
    session = await loop.session('s');
    await loop.start();
    await session.inject('go');
    await session.until('approval/requested');
    for (let restart = 0; restart < 10; restart++) {
      loop.crash();
      await loop.start();
    }
    expect(await session.types()).not.toContain('turn/resumed');
    await approve('approved');
    await session.until('turn/end');
    expect(await session.payloads('approval/requested')).toHaveLength(1);
    expect(toolbox.executed).toHaveLength(1);
  });

  it('CAN-10 APR-21 cancelled: the cancel stands first, the request is denied durably, nothing dangles', async () => {
    loop = memoryFixture({ model: model(), tools: tools() });
    session = await loop.session('s');
    await loop.start();
    await session.inject('go');
    await session.until('approval/requested');
    await session.cancel({ reason: 'stop' });
    await session.until('turn/end');
    expect((await session.types()).slice(-5)).toEqual([
      'turn/cancel_requested',
      'approval/resolved',
      'tool/result',
      'step/end',
      'turn/end',
    ]);
    expect(await session.payloads('approval/resolved')).toMatchObject([{ verdict: 'denied' }]);
  });
});

describe('a graceful stop', () => {
  it('lets the step finish, hands the turn over, and the next owner goes on without counting it', async () => {
    const stopped = new Gate<Promise<void>>();
    const tools = scriptedTools({ a: () => (stopped.open(loop.stop()), 'a') });
    loop = memoryFixture({ model: new ScriptedModel({ calls: [{ id: 'c', name: 'a' }] }, { text: 'ok' }), tools });
    session = await loop.session('s');
    await loop.start();
    await session.inject('go');
    await stopped.opened;
    expect((await session.types()).slice(-3)).toEqual(['tool/result', 'step/end', 'turn/handed_over']);
    await loop.start();
    await session.until('turn/end');
    expect(await session.payloads('turn/resumed')).toMatchObject([{ cause: 'handover' }]);
    expect(tools.executed).toHaveLength(1);
  });

  it('aborts a step that does not end within drain_ms and hands the turn over as it stands', async () => {
    const clock = new VirtualClock();
    const asked = new Gate();
    loop = memoryFixture({ model: new ScriptedModel({ before: () => (asked.open(), never) }, { text: 'ok' }), clock });
    session = await loop.session('s');
    await loop.start();
    await session.inject('go');
    await asked.opened;
    const stopping = loop.stop();
    await clock.whenPending(2);
    await clock.next();
    await stopping;
    expect((await session.types()).at(-1)).toBe('turn/handed_over');
    await loop.start();
    await session.until('turn/end');
    expect(await session.payloads('turn/end')).toMatchObject([{ status: 'completed' }]);
  });

  it('releases a parked turn at once and logs nothing about it', async () => {
    const tools = scriptedTools({ risky: () => 'done' }, { risky: { approval: 'always' } });
    loop = memoryFixture({ model: new ScriptedModel({ calls: [{ id: 'c', name: 'risky' }] }), tools });
    session = await loop.session('s');
    await loop.start();
    await session.inject('go');
    await session.until('approval/requested');
    await loop.stop();
    expect((await session.types()).at(-1)).toBe('approval/requested');
  });

  it('takes nothing new', async () => {
    loop = memoryFixture({ model: new ScriptedModel({ text: 'later' }) });
    session = await loop.session('s');
    await loop.start();
    await loop.stop();
    await session.inject('hello');
    expect((await session.types()).at(-1)).toBe('input/queued');
    await loop.start();
    await session.until('turn/end');
  });
});
