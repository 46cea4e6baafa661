import { describe, expect, it } from '@jest/globals';
import { fold } from '@longrein/session';
import { MemoryDeployment, memoryFixture } from '../testing/memory-deployment.js';
import { ScriptedModel } from '../testing/scripted-model.js';
import { SessionProbe } from '../testing/session-probe.js';
import { SNAPSHOT_EVERY, SessionLoader } from './session-loader.js';

async function sessionOf(facts: number) {
  const deployment = new MemoryDeployment();
  await deployment.as('gateway').create('s');
  const session = new SessionProbe('s', deployment);
  for (let n = 0; n < facts; n++) await session.append('policy', 'policy/updated', { patterns: [`p${n}`] });
  return { deployment, session, loader: new SessionLoader(deployment.as('loop'), deployment.documents) };
}

describe('loading a session', () => {
  it('from a snapshot and the facts after it gives the fold of everything', async () => {
    const { session, loader } = await sessionOf(3);
    await loader.save('s', (await loader.load('s')).state);
    await session.append('policy', 'policy/updated', { patterns: ['later'] });
    const loaded = await loader.load('s');
    expect(loaded.snapshot_seq).toBe(3);
    expect(loaded.state).toEqual(fold(await session.events()));
  });

  it('drops a snapshot whose position holds another event, or that another version wrote', async () => {
    const { deployment, session, loader } = await sessionOf(3);
    const { state } = await loader.load('s');
    await loader.save('s', { ...state, title: 'wrong', last_fact_id: 'another' });
    expect((await loader.load('s')).state).toEqual(fold(await session.events()));
    await deployment.documents.save('session.s', { fold_version: 0, state: { ...state, title: 'old' } });
    expect((await loader.load('s')).state.title).toBeNull();
  });

  it('a long session is snapshotted when it becomes idle', async () => {
    const loop = memoryFixture({ model: new ScriptedModel({ text: 'ok' }) });
    const session = await loop.session('s');
    for (let n = 0; n < SNAPSHOT_EVERY; n++) await session.append('policy', 'policy/updated', { patterns: [] });
    await session.inject('hi');
    await loop.start();
    await session.until('turn/end');
    await loop.stop();
    const saved = (await loop.deployment.documents.load('session.s')) as { state: { last_fact_seq: number } };
    expect(saved.state.last_fact_seq).toBe((await session.events()).length - 1);
  });
});
