import { afterAll, describe, it, jest } from '@jest/globals';
import { deaths } from './deaths.js';
import type { Differences, KilledTurn } from './killed-turn.js';
import { Lanes } from './lane.js';
import type { Trap } from './loop-replica.js';

// A test also waits for its lane.
jest.setTimeout(120_000);

const lanes = new Lanes(3);
afterAll(() => lanes.stop());

/** Two calls ran together, the second came back first: both results go into one append. */
const RESULTS = 'tool/result(look)+tool/result(find)';

const STEP_OVER = 'tool/result(risk)+step/end+step/start';

describe('killed inside of a resume', () => {
  const first = (turn: KilledTurn): Trap => ({ before: turn.append(RESULTS) });

  it.concurrent.each<[string, (turn: KilledTurn) => Trap, Differences?]>([
    ['before turn/resumed', (turn) => ({ before: turn.append('turn/resumed#undefined') })],
    ['after turn/resumed', (turn) => ({ after: turn.append('turn/resumed#undefined') })],
    ['before the owed call starts again', (turn) => ({ before: turn.append('tool/started(look)') })],
    ['after the owed call started again', (turn) => ({ after: turn.append('tool/started(look)') })],
    ['before the owed result and the kept one', (turn) => ({ before: turn.append(RESULTS) })],
    ['after the owed result and the kept one', (turn) => ({ after: turn.append(RESULTS) })],
    ['after pay started', (turn) => ({ after: turn.append('tool/started(pay)') }), { unknown: true }],
    ['before the resumed step ends', (turn) => ({ before: turn.append(STEP_OVER) })],
    ['after the resumed step ended', (turn) => ({ after: turn.append(STEP_OVER) })],
  ])('RES-02 RES-07 complaint 3: the second time %s', (_, second, differences = {}) =>
    deaths(lanes, (turn) => [first(turn), second(turn)], differences),
  );
});
