import { afterAll, describe, it, jest } from '@jest/globals';
import { deaths } from './deaths.js';
import type { Differences, KilledTurn } from './killed-turn.js';
import { Lanes } from './lane.js';
import type { Trap } from './loop-replica.js';

// A test also waits for its lane.
jest.setTimeout(120_000);

const lanes = new Lanes(3);
afterAll(() => lanes.stop());

describe('killed inside of a resume', () => {
  const first = (turn: KilledTurn): Trap => ({ before: turn.append('tool/result(look)') });

  it.concurrent.each<[string, (turn: KilledTurn) => Trap, Differences?]>([
    ['before turn/resumed', (turn) => ({ before: turn.append('turn/resumed#undefined') })],
    ['after turn/resumed', (turn) => ({ after: turn.append('turn/resumed#undefined') })],
    ['before the owed call starts again', (turn) => ({ before: turn.append('tool/started(look)') })],
    ['after the owed call started again', (turn) => ({ after: turn.append('tool/started(look)') })],
    ['before the owed result', (turn) => ({ before: turn.append('tool/result(look)') })],
    ['after the owed result', (turn) => ({ after: turn.append('tool/result(look)') })],
    ['before the kept result', (turn) => ({ before: turn.append('tool/result(find)') })],
    ['after pay started', (turn) => ({ after: turn.append('tool/started(pay)') }), { unknown: true }],
    ['before the resumed step ends', (turn) => ({ before: turn.append('step/end#undefined') })],
    ['after the resumed step ended', (turn) => ({ after: turn.append('step/end#undefined') })],
  ])('RES-02 RES-07 complaint 3: the second time %s', (_, second, differences = {}) =>
    deaths(lanes, (turn) => [first(turn), second(turn)], differences),
  );
});
