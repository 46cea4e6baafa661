import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { EventEnvelope } from '@longrein/events';
import { violations } from '../../apps/loop/src/testing/invariants.js';
import { Fleet, PLACES, agentsOf } from './fleet.js';
import { historyOf, wrongRuns } from './scripted-turn.js';
import type { TailingClient } from './tailing-client.js';

const SESSIONS = 100;

let fleet: Fleet;
beforeAll(async () => {
  fleet = await Fleet.start();
}, 60_000);
afterEach(() => fleet.disconnect());
afterAll(() => fleet?.stop());

/** Clients of a session each, which ask again as soon as they are answered, until they are told to stop. */
class Load {
  readonly clients: readonly TailingClient[];
  readonly asked = new Map<string, string[]>();
  readonly over: Promise<unknown>;
  answered = 0;
  #stopped = false;
  readonly #watchers = new Set<() => void>();

  constructor(
    name: string,
    count: number,
    private readonly turns: number,
  ) {
    this.clients = agentsOf(name, count).map((agent) => fleet.client(agent));
    this.over = Promise.all(this.clients.map((client) => this.#ask(client)));
  }

  /** Resolves when so many turns have ended, over all sessions. */
  async reached(answered: number): Promise<void> {
    while (this.answered < answered) await new Promise<void>((resolve) => this.#watchers.add(resolve));
  }

  /** Lets each client end with the turn it is in. */
  stop(): void {
    this.#stopped = true;
  }

  async #ask(client: TailingClient): Promise<void> {
    const texts: string[] = [];
    this.asked.set(client.agent, texts);
    while (texts.length < this.turns && !this.#stopped) {
      texts.push(`${client.agent} ${texts.length}`);
      await client.ask(texts.at(-1)!);
      this.answered += 1;
      for (const tell of this.#watchers) tell();
      this.#watchers.clear();
    }
  }
}

/** Each session is what an undisturbed one would be, and each client saw all of it, once. */
async function check(load: Load): Promise<void> {
  for (const client of load.clients) {
    const events = await fleet.events(client.agent);
    await client.caughtUp(events.length - 1);
    expect(client.complaints).toEqual([]);
    expect(client.events).toEqual(events);
    expect(violations(events, { settled: true })).toEqual([]);
    expect(wrongRuns(events, runsOf(client.agent))).toEqual([]);
    expectAnswers(events, load.asked.get(client.agent)!);
  }
  expect(fleet.model.rejections).toEqual([]);
}

const runsOf = (session: string) => fleet.runs.filter((run) => run.session === session);

/** Every text was taken once, in order, worked on, and answered. */
function expectAnswers(events: readonly EventEnvelope[], texts: readonly string[]): void {
  const wrapUp = JSON.stringify({ role: 'assistant', parts: [{ type: 'text', text: 'Nothing to add.' }] });
  const items = historyOf(events).filter((item) => JSON.stringify(item) !== wrapUp);
  const call = (on: string) => ({ type: 'tool_call', id: expect.any(String), name: 'work', args: { on } });
  expect(items).toEqual(
    texts.flatMap((text) => [
      { role: 'user', text, source: 'user' },
      { role: 'assistant', parts: [{ type: 'text', text: 'Working on it.' }, call(text), call(`${text} twice`)] },
      { role: 'tool', id: expect.any(String), content: `${text} is done`, error: null },
      { role: 'tool', id: expect.any(String), content: `${text} twice is done`, error: null },
      { role: 'assistant', parts: [{ type: 'text', text: 'All done.' }] },
    ]),
  );
  const ends = events.filter(({ type }) => type === 'turn/end').map(({ payload }) => payload);
  expect(ends).toEqual(texts.map(() => expect.objectContaining({ status: 'completed' })));
}

describe(`complaints 3, 7 and 16: under ${SESSIONS} active sessions`, () => {
  it('kill -9 of the log: every turn completes, no client sees a gap or a repetition', async () => {
    const load = new Load('log', SESSIONS, 3);
    for (const [index, place] of (['log-a', 'log-b'] as const).entries()) {
      await load.reached(SESSIONS / 2 + index * SESSIONS);
      await fleet.kill(place);
      await fleet.restart(place);
    }
    await load.over;
    await check(load);
  }, 110_000);

  it('kill -9 of the loop: every turn completes, no client sees a gap or a repetition', async () => {
    const load = new Load('loop', SESSIONS, 3);
    for (const [index, place] of (['loop-a', 'loop-b'] as const).entries()) {
      await load.reached(SESSIONS / 2 + index * SESSIONS);
      await fleet.kill(place);
      await fleet.restart(place);
    }
    await load.over;
    await check(load);
  }, 110_000);

  it('kill -9 of a gateway: its clients go on at another, without a gap or a repetition', async () => {
    const load = new Load('gateway', SESSIONS, 3);
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
    const load = new Load('nats', SESSIONS, 3);
    await load.reached(SESSIONS / 2);
    await fleet.nats.server.kill();
    await fleet.nats.server.restart();
    await load.over;
    await check(load);
  }, 110_000);
});

describe('the NATS server dies while a tool works', () => {
  it('a result that the tool could not deliver is not lost: the call is answered without a second execution', async () => {
    const load = new Load('working', 1, 1);
    const [client] = load.clients;
    fleet.began.set(`${client!.agent} 0`, async () => {
      await fleet.nats.server.kill();
      void fleet.nats.server.restart();
    });
    await load.over;
    await check(load);
    expect(new Set(runsOf(client!.agent).map(({ key }) => key)).size).toBe(2);
    expect(runsOf(client!.agent)).toHaveLength(2);
  }, 60_000);
});

describe('complaint 16: a rolling restart of every service, twice, under load', () => {
  it('loses no turn, repeats no call, and shows clients nothing but reconnects', async () => {
    const load = new Load('rolling', 24, Infinity);
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
      const runs = runsOf(agent);
      expect(runs.map(({ key }) => key)).toEqual([...new Set(runs.map(({ key }) => key))]);
    }
  }, 118_000);
});
