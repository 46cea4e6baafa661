import { afterEach, describe, expect, it } from '@jest/globals';
import { VirtualClock } from '@longrein/testing';
import { violations } from '../testing/invariants.js';
import type { LoopFixture } from '../testing/loop-fixture.js';
import { memoryFixture } from '../testing/memory-deployment.js';
import { ScriptedModel } from '../testing/scripted-model.js';
import type { SessionProbe } from '../testing/session-probe.js';
import { scriptedTools } from '../testing/tool-script.js';
import type { ClaimHooks, HookedClaim } from './claim-hooks.js';

let loop: LoopFixture;
let session: SessionProbe;

afterEach(() => loop.stop());

const upper: NonNullable<ClaimHooks['pre_step']> = ({ inputs }) =>
  Promise.resolve({ rewrite: inputs.map(({ input_id, text }) => ({ input_id, text: text.toUpperCase() })) });

async function begin(
  hooks: Partial<ClaimHooks>,
  options: Omit<Parameters<typeof memoryFixture>[0], 'claim_hooks'>,
): Promise<void> {
  loop = memoryFixture({ ...options, claim_hooks: { silence: 'wait', ...hooks } });
  session = await loop.session('s');
  await loop.start();
}

const statuses = async () => (await session.payloads('turn/end')).map(({ status, reason }) => [status, reason]);

describe('a pre_step hook', () => {
  it('TRN-07 that refuses gives turn/start and turn/end rejected, the input not logged and consumed', async () => {
    const model = new ScriptedModel();
    await begin({ pre_step: () => Promise.resolve({ reject: { reason: 'not now' } }) }, { model });
    await session.inject('hi');
    await session.until('turn/end');
    expect((await session.types()).slice(2)).toEqual(['turn/start', 'turn/end']);
    expect(await statuses()).toEqual([['rejected', 'not now']]);
    expect((await session.state()).inbox).toEqual([]);
    expect(model.requests).toEqual([]);
  });

  it('that refuses a later step ends the turn there; a steer that was not logged stays queued', async () => {
    const pre_step = ({ n }: HookedClaim) => Promise.resolve(n === 1 ? {} : { reject: { reason: 'enough' } });
    const tools = scriptedTools({ a: () => session.inject('hurry', { wake: false }).then(() => 'a') });
    await begin({ pre_step }, { model: new ScriptedModel({ calls: [{ id: 'c', name: 'a' }] }), tools });
    await session.inject('go');
    await session.until('turn/end');
    expect(await statuses()).toEqual([['rejected', 'enough']]);
    expect((await session.state()).inbox).toMatchObject([{ text: 'hurry' }]);
    expect(violations(await session.events(), { settled: true })).toEqual([]);
  });

  it('TRN-13 that rewrites decides what is logged and sent, each text under its own type', async () => {
    const seen: HookedClaim[] = [];
    const model = new ScriptedModel({ text: 'ok' });
    loop = memoryFixture({
      model,
      claim_hooks: { silence: 'wait', pre_step: (claim) => (seen.push(claim), upper(claim)) },
    });
    session = await loop.session('s');
    await session.inject('steer', { wake: false });
    await session.inject('hello');
    await loop.start();
    const { payload } = await session.until('turn/end');
    expect(await session.payloads('user/message')).toEqual([{ text: 'HELLO', input_id: 'i2' }]);
    expect(await session.payloads('context/injected')).toEqual([{ text: 'STEER', input_id: 'i1' }]);
    expect(model.requests[0]?.messages).toMatchObject([{ text: 'HELLO' }, { text: 'STEER' }]);
    expect(seen).toEqual([
      {
        session_id: 's',
        agent: 'default',
        turn_id: (payload as { turn_id: string }).turn_id,
        n: 1,
        inputs: [
          { input_id: 'i2', kind: 'user/message', text: 'hello' },
          { input_id: 'i1', kind: 'context/injected', text: 'steer' },
        ],
      },
    ]);
    expect(violations(await session.events(), { settled: true })).toEqual([]);
  });

  it('RED-02 cannot write a secret: what it answers is scrubbed, and the digest is that of the stored text', async () => {
    const pre_step = () => Promise.resolve({ rewrite: [{ input_id: 'i1', text: 'use sk-secret01' }] });
    const model = new ScriptedModel({ text: 'ok' });
    await begin({ pre_step }, { model, scrub: [{ literal: 'sk-secret01' }] });
    await session.inject('hi');
    await session.until('turn/end');
    expect(model.requests[0]?.messages).toMatchObject([{ text: 'use [redacted]' }]);
    expect(violations(await session.events(), { settled: true })).toEqual([]);
  });

  it('sees every input before a model does: what comes while it thinks rides the next step', async () => {
    const seen: string[][] = [];
    let ask = 0;
    const pre_step = async ({ inputs }: HookedClaim) => {
      seen.push(inputs.map(({ text }) => text));
      if (++ask === 1) await session.inject('late', { wake: false });
      return {};
    };
    const tools = scriptedTools({ a: () => 'a' });
    await begin({ pre_step }, { model: new ScriptedModel({ calls: [{ id: 'c', name: 'a' }] }, { text: 'ok' }), tools });
    await session.inject('go');
    await session.until('turn/end');
    expect(seen).toEqual([['go'], ['late']]);
    const types = await session.types();
    expect(types.indexOf('context/injected')).toBeGreaterThan(types.indexOf('tool/result'));
  });

  it('that does not answer holds the turn: asked again after a delay, nothing skipped, nothing appended', async () => {
    const clock = new VirtualClock();
    let asked = 0;
    const pre_step = (claim: HookedClaim) => (++asked < 3 ? Promise.reject(new Error('down')) : upper(claim));
    await begin({ pre_step }, { model: new ScriptedModel({ text: 'ok' }), clock });
    await session.inject('hi');
    for (let tries = 1; tries < 3; tries++) {
      await clock.whenPending(1);
      expect(asked).toBe(tries);
      expect(await session.types()).toEqual(['session/created', 'input/queued']);
      await clock.next();
    }
    await session.until('turn/end');
    expect(asked).toBe(3);
    expect(await session.payloads('user/message')).toMatchObject([{ text: 'HI' }]);
  });

  it('that does not answer keeps no loop from stopping; the next one asks, and the input is not lost', async () => {
    const clock = new VirtualClock();
    await begin(
      { pre_step: () => Promise.reject(new Error('down')) },
      { model: new ScriptedModel({ text: 'ok' }), clock },
    );
    await session.inject('hi');
    await clock.whenPending(1);
    await loop.stop();
    await loop.start({ claim_hooks: { silence: 'wait', pre_step: upper } });
    await session.until('turn/end');
    expect(await session.payloads('user/message')).toMatchObject([{ text: 'HI' }]);
  });

  it('that does not answer keeps no open turn from being cancelled', async () => {
    const clock = new VirtualClock();
    const pre_step = ({ n }: HookedClaim) => (n === 1 ? Promise.resolve({}) : Promise.reject(new Error('down')));
    const tools = scriptedTools({ a: () => 'a' });
    await begin({ pre_step }, { model: new ScriptedModel({ calls: [{ id: 'c', name: 'a' }] }), tools, clock });
    await session.inject('go');
    await session.until('step/end');
    await session.cancel({ reason: 'never mind' });
    await session.until('turn/end');
    expect(await statuses()).toEqual([['cancelled', 'never mind']]);
  });

  it('goes unasked where the deployment says that silence means to continue', async () => {
    const pre_step = () => Promise.reject(new Error('down'));
    await begin({ pre_step, silence: 'continue' }, { model: new ScriptedModel({ text: 'ok' }) });
    await session.inject('hi');
    await session.until('turn/end');
    expect(await session.payloads('user/message')).toMatchObject([{ text: 'hi' }]);
    expect(await statuses()).toEqual([['completed', undefined]]);
  });

  it('that rewrites what it was not asked about is taken for silent', async () => {
    const clock = new VirtualClock();
    const answers = [{ rewrite: [{ input_id: 'other', text: 'x' }] }, {}];
    await begin(
      { pre_step: () => Promise.resolve(answers.shift()!) },
      { model: new ScriptedModel({ text: 'ok' }), clock },
    );
    await session.inject('hi');
    await clock.whenPending(1);
    expect(await session.types()).toEqual(['session/created', 'input/queued']);
    await clock.next();
    await session.until('turn/end');
    expect(await session.payloads('user/message')).toMatchObject([{ text: 'hi' }]);
  });
});

describe('a request hook', () => {
  it('sets parameters, which are sent, logged and covered by the digest', async () => {
    const model = new ScriptedModel({ text: 'ok' });
    const request = () => Promise.resolve({ temperature: 0.1, max_tokens: 7 });
    await begin({ request, pre_step: upper }, { model });
    await session.inject('hi');
    await session.until('turn/end');
    expect(model.requests[0]).toMatchObject({ parameters: { temperature: 0.1, max_tokens: 7 } });
    expect(await session.payloads('step/start')).toMatchObject([{ parameters: { temperature: 0.1, max_tokens: 7 } }]);
    expect(violations(await session.events(), { settled: true })).toEqual([]);
  });

  it('is asked for each step with the model that the step goes to', async () => {
    const asked: [number, string][] = [];
    const request = async ({ n, model }: { n: number; model: string }) => {
      if (asked.push([n, model]) === 1) {
        await session.append('gateway', 'session/model_selected', { role: 'main', model: 'test/other' });
      }
      return {};
    };
    const tools = scriptedTools({ a: () => 'a' });
    await begin({ request }, { model: new ScriptedModel({ calls: [{ id: 'c', name: 'a' }] }, { text: 'ok' }), tools });
    await session.inject('go');
    await session.until('turn/end');
    expect(asked).toEqual([
      [1, 'test/model'],
      [1, 'test/other'],
      [2, 'test/other'],
    ]);
    expect((await session.payloads('step/start')).every((step) => !('parameters' in step))).toBe(true);
  });
});
