import { afterEach, describe, expect, it } from '@jest/globals';
import { Gate } from '../testing/gate.js';
import type { LoopFixture } from '../testing/loop-fixture.js';
import { memoryFixture } from '../testing/memory-deployment.js';
import { ScriptedModel } from '../testing/scripted-model.js';
import { CHECKPOINT_EVERY } from './partition-runner.js';

let loop: LoopFixture;

afterEach(() => loop.stop());

const settled = async (): Promise<void> => {
  while (loop.engine.load.active > 0) await new Promise((resolve) => setImmediate(resolve));
};

describe('a partition', () => {
  it('acts on what was queued before the loop was there', async () => {
    loop = memoryFixture({ model: new ScriptedModel({ text: 'a' }, { text: 'b' }) });
    const [one, two] = [await loop.session('one'), await loop.session('two')];
    await one.inject('hi');
    await two.inject('hi');
    await loop.start();
    await Promise.all([one.until('turn/end'), two.until('turn/end')]);
  });

  it('runs many sessions at once, one turn each, and forgets them when they are idle', async () => {
    const all = new Gate();
    let asked = 0;
    const answer = { text: 'x', before: () => (++asked === 50 && all.open(), all.opened) };
    loop = memoryFixture({ model: new ScriptedModel(...Array.from({ length: 50 }, () => answer)) });
    await loop.start();
    const sessions = await Promise.all(Array.from({ length: 50 }, (_, n) => loop.session(`s${n}`)));
    for (const session of sessions) await session.inject('hi');
    await Promise.all(sessions.map((session) => session.until('turn/end')));
    await settled();
    expect(loop.engine.load).toEqual({ partitions: 1, active: 0, in_work: 0 });
  });

  it('goes on from its checkpoint: a new owner reads what came after it, not the whole partition', async () => {
    const fixture = memoryFixture({ model: new ScriptedModel({ text: 'now' }, { text: 'later' }) });
    loop = fixture;
    const session = await loop.session('s');
    for (let n = 0; n < CHECKPOINT_EVERY + 10; n++) await session.append('policy', 'policy/updated', { patterns: [] });
    await session.inject('hi');
    await loop.start();
    await session.until('turn/end');
    await loop.stop();
    const saved = (await fixture.deployment.documents.load('loop.work-set.0')) as { checkpoint: { sequence: number } };
    expect(saved.checkpoint.sequence).toBeGreaterThan(CHECKPOINT_EVERY);
    await session.inject('again');
    await loop.start();
    await session.until('turn/end', 2);
  });

  it('is given up with an error when its checkpoint is not in the stream any more', async () => {
    const errors: string[] = [];
    const fixture = memoryFixture({ model: new ScriptedModel() });
    loop = fixture;
    const session = await loop.session('s');
    await session.inject('steer', { wake: false });
    await loop.start();
    await loop.stop();
    const saved = (await fixture.deployment.documents.load('loop.work-set.0')) as { checkpoint: object };
    const checkpoint = { ...saved.checkpoint, event_id: 'another' };
    await fixture.deployment.documents.save('loop.work-set.0', { ...saved, checkpoint });
    const given = new Gate();
    const logger = { ...silent, error: (_: object, message: string) => (errors.push(message), given.open()) };
    await loop.start({}, { logger });
    await given.opened;
    expect(errors).toEqual(['a partition is given up']);
  });

  it('an owner that is fenced appends nothing more and gives the partition up', async () => {
    const asked = new Gate();
    const go = new Gate();
    const model = new ScriptedModel({ text: 'zombie', before: () => (asked.open(), go.opened) }, { text: 'successor' });
    const fixture = memoryFixture({ model });
    loop = fixture;
    const session = await loop.session('s');
    const old = await loop.start();
    await session.inject('hi');
    await asked.opened;
    const successor = await loop.start();
    await session.until('turn/end');
    const before = (await session.events()).length;
    go.open();
    while (old.load.active > 0) await new Promise((resolve) => setImmediate(resolve));
    expect((await session.events()).length).toBe(before);
    expect(await session.payloads('assistant/message')).toMatchObject([{ parts: [{ text: 'successor' }] }]);
    expect(successor.load.partitions).toBe(1);
  });

  it('ignores what a fork copied: the child starts nothing of its own accord', async () => {
    const fixture = memoryFixture({ model: new ScriptedModel({ text: 'parent' }, { text: 'child' }) });
    loop = fixture;
    const parent = await loop.session('parent');
    await parent.inject('hi');
    await loop.start();
    await parent.until('turn/end');
    await fixture.deployment.as('registry').fork({ from: 'parent', to: 'child' });
    const child = await loop.session('child');
    const before = await child.types();
    await settled();
    expect(await child.types()).toEqual(before);
    await child.append('gateway', 'input/queued', { input_id: 'new', text: 'go on', wake: true });
    await child.until('turn/end', 2);
    expect((await child.payloads('user/message')).map(({ text }) => text)).toEqual(['hi', 'go on']);
  });
});

const nothing = (): void => undefined;
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing };
