import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Fleet } from './fleet.js';
import { Load, check, runsOf } from './load.js';

const SESSIONS = 100;

let fleet: Fleet;
beforeAll(async () => {
  fleet = await Fleet.start();
}, 60_000);
afterEach(() => fleet.disconnect());
afterAll(() => fleet?.stop());

describe(`complaints 3, 7 and 16: under ${SESSIONS} active sessions`, () => {
  it('kill -9 of the log: every turn completes, no client sees a gap or a repetition', async () => {
    const load = new Load(fleet, 'log', SESSIONS, 3);
    for (const [index, place] of (['log-a', 'log-b'] as const).entries()) {
      await load.reached(SESSIONS / 2 + index * SESSIONS);
      await fleet.kill(place);
      await fleet.restart(place);
    }
    await load.over;
    await check(load);
  }, 110_000);

  it('kill -9 of the loop: every turn completes, no client sees a gap or a repetition', async () => {
    const load = new Load(fleet, 'loop', SESSIONS, 3);
    for (const [index, place] of (['loop-a', 'loop-b'] as const).entries()) {
      await load.reached(SESSIONS / 2 + index * SESSIONS);
      await fleet.kill(place);
      await fleet.restart(place);
    }
    await load.over;
    await check(load);
  }, 110_000);

  it('kill -9 of a gateway: its clients go on at another, without a gap or a repetition', async () => {
    const load = new Load(fleet, 'gateway', SESSIONS, 3);
    for (const [index, place] of (['gateway-a', 'gateway-b'] as const).entries()) {
      await load.reached(SESSIONS / 2 + index * SESSIONS);
      await fleet.kill(place);
      await fleet.restart(place);
    }
    await load.over;
    await check(load);
    expect(load.clients.every(({ reconnects }) => reconnects > 0)).toBe(true);
  }, 110_000);

  it('kill -9 of the NATS server and a restart on the same disk: every turn completes', async () => {
    const load = new Load(fleet, 'nats', SESSIONS, 3);
    await load.reached(SESSIONS / 2);
    await fleet.nats.server.kill();
    await fleet.nats.server.restart();
    await load.over;
    await check(load);
  }, 110_000);
});

describe('the NATS server dies while a tool works', () => {
  it('a result that the tool could not deliver is not lost: the call is answered without a second execution', async () => {
    const load = new Load(fleet, 'working', 1, 1);
    const [client] = load.clients;
    fleet.began.set(`${client!.agent} 0`, async () => {
      await fleet.nats.server.kill();
      void fleet.nats.server.restart();
    });
    await load.over;
    await check(load);
    expect(new Set(runsOf(fleet, client!.agent).map(({ key }) => key)).size).toBe(2);
    expect(runsOf(fleet, client!.agent)).toHaveLength(2);
  }, 60_000);
});
