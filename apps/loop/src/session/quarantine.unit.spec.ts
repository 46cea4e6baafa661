import { afterEach, describe, expect, it } from '@jest/globals';
import { Gate } from '../testing/gate.js';
import { violations } from '../testing/invariants.js';
import type { LoopFixture } from '../testing/loop-fixture.js';
import { memoryFixture } from '../testing/memory-deployment.js';
import { ScriptedModel } from '../testing/scripted-model.js';
import type { SessionProbe } from '../testing/session-probe.js';

let loop: LoopFixture;
let session: SessionProbe;

afterEach(() => loop.stop());

const quarantine = () => session.append('operator', 'session/quarantined', { reason: 'eats memory' });
const lift = () => session.append('operator', 'session/quarantine_lifted', {});
const never = new Promise<never>(() => undefined);

/** Resolves once the loop has done everything it will do about `session` so far: it has answered another one after it. */
async function seenToTheEnd(model: ScriptedModel, name: string): Promise<void> {
  model.then({ text: 'ok' });
  const other = await loop.session(name);
  await other.inject('hi');
  await other.until('turn/end');
}

async function hungTurn(model: ScriptedModel): Promise<void> {
  const asked = new Gate();
  model.then({ before: (_, signal) => (asked.open(), signal.addEventListener('abort', () => aborts.push(1)), never) });
  loop = memoryFixture({ model });
  session = await loop.session('s');
  await loop.start();
  await session.inject('go');
  await asked.opened;
}

const aborts: number[] = [];

describe('a quarantined session', () => {
  it('loses its actor at once: what runs is aborted, nothing more is appended, inputs queue', async () => {
    const model = new ScriptedModel();
    await hungTurn(model);
    aborts.length = 0;
    await quarantine();
    await session.inject('are you there?');
    await session.cancel();
    await seenToTheEnd(model, 'other');
    expect(aborts).toEqual([1]);
    expect((await session.types()).slice(5)).toEqual(['session/quarantined', 'input/queued', 'turn/cancel_requested']);
    expect((await session.state()).inbox).toMatchObject([{ text: 'are you there?' }]);
  });

  it('gets no actor from the next owner either, and goes on where it was once it is lifted', async () => {
    const model = new ScriptedModel();
    await hungTurn(model);
    await quarantine();
    loop.crash();
    await loop.start();
    await seenToTheEnd(model, 'other');
    expect((await session.types()).at(-1)).toBe('session/quarantined');
    model.then({ text: 'back' });
    await lift();
    await session.until('turn/end');
    expect(await session.payloads('turn/resumed')).toMatchObject([{ cause: 'wake' }]);
    expect(await session.payloads('turn/end')).toMatchObject([{ status: 'completed' }]);
    expect(violations(await session.events(), { settled: true })).toEqual([]);
  });

  it('is out of reach also for what was decided before the mark was heard of', async () => {
    const model = new ScriptedModel({ text: 'ok' });
    loop = memoryFixture({
      model,
      // The mark lands between the decision to claim a step and its append.
      claim_hooks: { silence: 'wait', request: () => (marked ? Promise.resolve({}) : mark()) },
    });
    let marked = false;
    const mark = async () => {
      marked = true;
      await quarantine();
      return {};
    };
    session = await loop.session('s');
    await loop.start();
    await session.inject('go');
    await session.until('session/quarantined');
    await seenToTheEnd(model, 'other');
    expect(await session.types()).toEqual(['session/created', 'input/queued', 'session/quarantined']);
    await lift();
    model.then({ text: 'ok' });
    await session.until('turn/end');
    expect(await session.payloads('user/message')).toMatchObject([{ text: 'go' }]);
  });
});
