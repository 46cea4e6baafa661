import { afterAll, describe, expect, it, jest } from '@jest/globals';
import { type Differences, KilledTurn, killed } from './killed-turn.js';
import { Lanes } from './lane.js';
import type { Trap } from './loop-replica.js';

/** Every append that the loop makes in the turn, in order, and what its loss or its unheard answer may change. */
const APPENDS: readonly (readonly [label: string, before: Differences, after: Differences])[] = [
  ['turn/start+context/tools+step/start+user/message#1', {}, {}],
  ['assistant/message+tool/call#1', {}, {}],
  ['tool/started(look)', {}, {}],
  ['tool/started(find)', {}, {}],
  ['tool/finished(find)', {}, {}],
  ['tool/result(look)+tool/result(find)', {}, {}],
  ['tool/started(pay)', {}, { unknown: true }],
  ['tool/result(pay)', { unknown: true }, {}],
  ['approval/requested(risk)', {}, {}],
  ['tool/started(risk)', {}, {}],
  ['tool/result(risk)+step/end+step/start', {}, {}],
  ['assistant/message+step/end+turn/end#2', {}, {}],
];

// A test also waits for its lane.
jest.setTimeout(120_000);

const lanes = new Lanes(3);
afterAll(() => lanes.stop());

/** Lets the owner of a turn die at a place, and holds the turn that another replica completed against an undisturbed one. */
function dies(trap: (turn: KilledTurn) => Trap, differences: Differences): Promise<void> {
  return lanes.use(async (lane) => {
    const victim = await lane.ready();
    const turn = await KilledTurn.in(lane);
    turn.approveWhenAsked();
    victim.arm(trap(turn));
    await turn.begin();
    await killed(turn, victim);
    await turn.over();
    await turn.check(differences);
  });
}

describe('complaints 3 and 4: a turn whose process is killed goes on in another, as if nothing had been', () => {
  it('knows every append of the turn', async () => {
    await lanes.use(async (lane) => {
      const owner = await lane.ready();
      const turn = await KilledTurn.in(lane);
      turn.approveWhenAsked();
      await turn.begin();
      await turn.session.until('turn/end');
      const labels = owner.appends.filter(({ session_id }) => session_id === turn.id).map(({ label }) => label);
      // On a slow machine text goes out before its message is there.
      const known = labels.filter((label) => !label.startsWith('assistant/chunk'));
      expect([...new Set(known)]).toEqual(APPENDS.map(([label]) => label));
      await turn.over();
      await turn.check();
    });
  });

  it.concurrent.each(APPENDS.map(([label, before]) => [label, before] as const))(
    'RES-06 RES-07 RES-09 killed before the append of %s',
    (label, differences) => dies((turn) => ({ before: turn.append(label) }), differences),
  );

  it.concurrent.each(APPENDS.map(([label, , after]) => [label, after] as const))(
    'RES-06 RES-11 RES-12 killed after the append of %s is stored',
    (label, differences) => dies((turn) => ({ after: turn.append(label) }), differences),
  );
});
