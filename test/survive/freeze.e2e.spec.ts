import { afterAll, describe, expect, it, jest } from '@jest/globals';
import { KilledTurn } from './killed-turn.js';
import { type Lane, Lanes } from './lane.js';
import type { LoopReplica, Trap } from './loop-replica.js';

jest.setTimeout(120_000);

const lanes = new Lanes(2);
afterAll(() => lanes.stop());

interface LogLine {
  readonly msg?: string;
}

/** A frozen owner that runs on, and what it says to the log from then on. */
async function thaw(zombie: LoopReplica, { id, lane }: KilledTurn, epoch: number): Promise<void> {
  const known = zombie.appends.length;
  const answered = zombie.appends.filter(({ outcome }) => outcome === undefined);
  zombie.thaw();
  lane.rig.model.release(id);
  // It finds out by its lease, or by the first refusal.
  await zombie.child.json<LogLine>(({ msg = '' }) => /lease of partition \d+ was lost|is given up/.test(msg));
  await zombie.whenSettled();
  for (const append of [...answered, ...zombie.appends.slice(known)]) {
    if (append.epoch === epoch) expect(append.outcome).not.toBe('stored');
  }
  expect(lane.rig.owner()).not.toBe(zombie);
}

/** Freezes the owner where the trap springs or where `at` resolves, lets another complete the turn, and thaws it. */
function freezes(trap: (turn: KilledTurn) => Trap, at?: (turn: KilledTurn, lane: Lane) => Promise<void>) {
  return lanes.use(async (lane) => {
    const zombie = await lane.ready();
    const turn = await KilledTurn.in(lane);
    turn.approveWhenAsked();
    zombie.arm({ ...trap(turn), fate: 'freeze' });
    const there = at?.(turn, lane);
    await turn.begin();
    await there;
    if (there) zombie.freeze();
    await zombie.sprung;
    await turn.session.until('turn/end');
    const completed = await turn.session.events();
    const epochs = completed.map(({ payload }) => (payload as { epoch?: number }).epoch);
    const first = epochs.find((epoch) => epoch !== undefined)!;
    expect(epochs.filter((epoch) => epoch !== undefined && epoch > first).length).toBeGreaterThan(0);
    const runs = [...lane.tools.of(turn.id)];

    await thaw(zombie, turn, first);

    // Nothing was added.
    expect(await turn.session.events()).toEqual(completed);
    const late = lane.tools.of(turn.id).slice(runs.length);
    // No term's events come after those of a later one.
    const inForce = epochs.filter((epoch) => epoch !== undefined);
    expect(inForce).toEqual([...inForce].sort((a, b) => a - b));
    await turn.over();
    return { turn, lane, late };
  });
}

describe('complaint 21: an owner that was frozen for longer than its lease and runs on', () => {
  it.concurrent.each([
    'assistant/message+tool/call#1',
    'tool/started(look)',
    'tool/result(look)+tool/result(find)',
    'approval/requested(risk)',
    'tool/result(risk)+step/end+step/start',
  ])('its append of %s, held back until then, is refused, and it appends nothing more', async (label) => {
    const { turn, late } = await freezes((turn) => ({ before: turn.append(label) }));
    await turn.check();
    expect(late).toEqual([]);
  });

  it.concurrent('streams no more of its answer, which another has given by then', async () => {
    const { turn } = await freezes(
      () => ({}),
      async (turn, lane) => {
        lane.script.held.add(turn.id);
        await lane.rig.model.reached(turn.id);
        await turn.session.until('assistant/chunk');
      },
    );
    await turn.check();
  });

  it.concurrent.each(['look', 'risk'])(
    'its request to the tool %s, held back until then, is refused by the tool: the call ran once',
    async (name) => {
      const { turn, lane, late } = await freezes((turn) => ({ up: turn.call(name) }));
      await turn.check();
      expect(late).toEqual([]);
      expect(lane.tools.of(turn.id).filter((run) => run.name === name)).toMatchObject([{ attempt: 2 }]);
    },
  );

  it.concurrent(
    'its request to a tool that may not be repeated was given up as outcome unknown, and runs at most once',
    async () => {
      const { turn, late } = await freezes((turn) => ({ up: turn.call('pay') }));
      await turn.check({ unknown: true });
      // The tool has heard of no later owner, so that it may take the call: the log says that nobody can tell.
      expect(late.map(({ name, attempt }) => [name, attempt])).toEqual([['pay', 1]]);
    },
  );
});
