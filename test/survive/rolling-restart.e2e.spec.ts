import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Fleet, PLACES } from './fleet.js';
import { Load, check, runsOf } from './load.js';

let fleet: Fleet;
beforeAll(async () => {
  fleet = await Fleet.start();
}, 60_000);
afterEach(() => fleet.disconnect());
afterAll(() => fleet?.stop());

describe('complaint 16: a rolling restart of every service, twice, under load', () => {
  it('loses no turn, repeats no call, and shows clients nothing but reconnects', async () => {
    const load = new Load(fleet, 'rolling', 24, Infinity);
    await load.reached(24);
    for (const round of [1, 2]) {
      for (const place of PLACES) {
        expect([round, place, await fleet.end(place)]).toEqual([round, place, 0]);
        await fleet.restart(place);
        await load.reached(load.answered + 1);
      }
    }
    load.stop();
    await load.over;
    await check(load);
    for (const { agent } of load.clients) {
      const runs = runsOf(fleet, agent);
      expect(runs.map(({ key }) => key)).toEqual([...new Set(runs.map(({ key }) => key))]);
    }
  }, 118_000);
});
