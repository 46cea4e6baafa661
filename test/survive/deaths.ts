import { type Differences, KilledTurn, killed } from './killed-turn.js';
import type { Lane, Lanes } from './lane.js';
import type { LoopReplica, Trap } from './loop-replica.js';

/** Plays a turn in a lane whose owner, and a replica to take over after it, are ready. */
export function play(
  lanes: Lanes,
  work: (turn: KilledTurn, lane: Lane, owner: LoopReplica) => Promise<Differences | void>,
): Promise<void> {
  return lanes.use(async (lane) => {
    const owner = await lane.ready();
    const turn = await KilledTurn.in(lane);
    const differences = await work(turn, lane, owner);
    await turn.over();
    await turn.check(differences ?? {});
  });
}

/** One death after the other, each of the replica that runs the turn then. */
export function deaths(
  lanes: Lanes,
  traps: (turn: KilledTurn) => readonly Trap[],
  differences: Differences = {},
): Promise<void> {
  return play(lanes, async (turn, { rig }) => {
    turn.approveWhenAsked();
    let begun = false;
    for (const trap of traps(turn)) {
      // Whichever takes over next is to die at its place, also one that is just starting.
      const sprung = rig.arm(trap);
      if (!begun) await turn.begin();
      begun = true;
      await killed(turn, await Promise.race([sprung, turn.missed()]));
    }
    rig.disarm();
    return differences;
  });
}
