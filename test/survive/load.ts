import { expect } from '@jest/globals';
import type { EventEnvelope } from '@longrein/events';
import { violations } from '../../apps/loop/src/testing/invariants.js';
import { type Fleet, agentsOf } from './fleet.js';
import { historyOf, wrongRuns } from './scripted-turn.js';
import type { TailingClient } from './tailing-client.js';

/** Clients of a session each, which ask again as soon as they are answered, until they are told to stop. */
export class Load {
  readonly clients: readonly TailingClient[];
  readonly asked = new Map<string, string[]>();
  readonly over: Promise<unknown>;
  answered = 0;
  #stopped = false;
  readonly #watchers = new Set<() => void>();

  constructor(
    readonly fleet: Fleet,
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
export async function check(load: Load): Promise<void> {
  const { fleet } = load;
  for (const client of load.clients) {
    const events = await fleet.events(client.agent);
    await client.caughtUp(events.length - 1);
    expect(client.complaints).toEqual([]);
    expect(client.events).toEqual(events);
    expect(violations(events, { settled: true })).toEqual([]);
    expect(wrongRuns(events, runsOf(fleet, client.agent))).toEqual([]);
    expectAnswers(events, load.asked.get(client.agent)!);
  }
  expect(fleet.model.rejections).toEqual([]);
}

export const runsOf = (fleet: Fleet, session: string) => fleet.runs.filter((run) => run.session === session);

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
