import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RECOVERY_LIMIT, status } from '@longrein/session';
import type { RequestView, Scripted } from '@longrein/testing';
import { violations } from '../../apps/loop/src/testing/invariants.js';
import { Lane } from './lane.js';
import { wrongRuns } from './scripted-turn.js';

let lane: Lane;
beforeAll(async () => {
  lane = await Lane.start();
});
afterAll(() => lane.stop());

describe('complaint 14: a turn that kills its process each time', () => {
  it('is resumed a limited number of times, whatever progress it makes in between, then stalls alone and takes further input', async () => {
    const poison = await lane.rig.session('poison');
    const bystander = await lane.rig.session('bystander');
    const asked: number[] = [];
    let deadly = true;
    // Every life brings the turn a step on before it ends.
    const script = (view: RequestView): Scripted => {
      const [first] = view.messages;
      if (first?.role !== 'user' || first.text !== 'poison') return lane.script.reply(view);
      const last = view.messages.at(-1);
      asked.push(view.messages.length);
      if (!deadly) return { steps: [{ text: 'Cured.' }] };
      if (last?.role === 'user' || asked.length % 2 === 1) {
        return { steps: [{ tool_call: { name: 'find', args: { of: 'find' } } }] };
      }
      lane.rig.owner().die();
      lane.replace();
      return { silent: true };
    };
    await lane.ready();
    lane.rig.model.script = script;
    // Another turn is under way in the same process whenever it dies for the first time.
    lane.script.held.add('bystander');
    await bystander.inject('bystander');
    await lane.rig.model.reached('bystander');

    await poison.inject('poison');
    await poison.until('turn/stalled');

    const resumed = await poison.payloads('turn/resumed');
    expect(resumed.map(({ cause }) => cause)).toEqual(Array(RECOVERY_LIMIT).fill('death'));
    // One request that brings the turn on and one that kills in each life.
    expect(asked).toHaveLength(2 * (RECOVERY_LIMIT + 1));
    expect(await poison.payloads('turn/stalled')).toMatchObject([
      { reason: expect.stringContaining('recovery limit') },
    ]);
    expect(status(await poison.state())).toBe('stalled');
    expect(violations(await poison.events(), { settled: false })).toEqual([]);

    // It hurt the one beside it, and did not take it along.
    const { seq: request_seq } = await bystander.until('approval/requested');
    await bystander.append('approvals', 'approval/resolved', { call_id: 'risk', request_seq, verdict: 'approved' });
    await bystander.until('turn/end');
    expect(await bystander.payloads('turn/end')).toMatchObject([{ status: 'completed' }]);
    expect(wrongRuns(await bystander.events(), lane.tools.of('bystander'))).toEqual([]);

    // A quiet input is taken and spends nothing; a waking one takes the turn up again.
    await poison.inject('for later', { wake: false });
    expect(asked).toHaveLength(2 * (RECOVERY_LIMIT + 1));
    deadly = false;
    await poison.inject('go on');
    await poison.until('turn/end');
    expect(await poison.payloads('turn/end')).toMatchObject([{ status: 'completed' }]);
    expect((await poison.payloads('context/injected')).map(({ text }) => text)).toEqual(['for later', 'go on']);
    expect(violations(await poison.events(), { settled: true })).toEqual([]);
    expect(wrongRuns(await poison.events(), lane.tools.of('poison'))).toEqual([]);
    expect(lane.rig.model.rejections).toEqual([]);
  }, 110_000);
});
