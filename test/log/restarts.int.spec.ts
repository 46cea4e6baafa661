import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { EventEnvelope } from '@longrein/events';
import type { SessionLog } from '@longrein/log';
import { availableNatsVersions } from '@longrein/testing';
import { Deployment } from './deployment.js';

const SESSIONS = 12;
const WRITERS = 4;
const EVENTS = 60;

describe.each(availableNatsVersions())('under load on nats-server $version ($name)', ({ path }) => {
  let deployment: Deployment;
  let log: SessionLog;
  beforeEach(async () => {
    deployment = await Deployment.start({ binary: path, partitions: 2 });
    log = deployment.as('gateway');
  });
  afterEach(() => deployment.close());

  interface Answered {
    readonly id: string;
    readonly events: readonly string[];
    /** Where the answer said that the last of them is. */
    readonly seq: number;
  }

  /** Several writers for each session; batches of several sizes, every append retried until it is answered. */
  class Load {
    readonly sessions = Array.from({ length: SESSIONS }, (_, i) => `s${i}`);
    readonly #answered: Answered[] = [];
    #count = 0;
    readonly #waiting: { count: number; resolve: () => void }[] = [];

    async run(): Promise<void> {
      await Promise.all(this.sessions.map((id) => log.create(id, { deadline_ms: 60_000 })));
      await Promise.all(this.sessions.flatMap((id) => Array.from({ length: WRITERS }, () => this.#write(id))));
    }

    reached(share: number): Promise<void> {
      return new Promise((resolve) => this.#waiting.push({ count: share * SESSIONS * WRITERS * EVENTS, resolve }));
    }

    async #write(id: string): Promise<void> {
      let since = 0;
      for (let left = EVENTS; left > 0;) {
        const ids = Array.from({ length: Math.min(left, 1 + (left % 3)) }, () => randomUUID());
        const events = ids.map((event_id) => ({
          type: 'input/queued',
          payload: { input_id: event_id, text: 'x'.repeat(left * 20), wake: false },
          event_id,
        }));
        const { seq } = await log.append(id, { events, since }, { deadline_ms: 60_000 });
        this.#answered.push({ id, events: ids, seq });
        this.#count += ids.length;
        since = seq;
        left -= ids.length;
        for (const { count, resolve } of this.#waiting) if (this.#count >= count) resolve();
      }
    }

    /**
     * Every session holds each of its events once, a batch in its order and its last event where the answer said, and
     * nothing else. A batch whose owner lost the partition in its middle may have other events between its own.
     */
    async check(): Promise<void> {
      const places = new Map<string, number>();
      for (const id of this.sessions) {
        const events: EventEnvelope[] = [];
        for (let from: number | null = 0; from !== null;) {
          const page = await log.read(id, { from_seq: from });
          events.push(...page.events);
          from = page.next_seq;
        }
        expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: 1 + WRITERS * EVENTS }, (_, i) => i));
        for (const event of events.slice(1)) places.set(`${id} ${event.id}`, event.seq);
      }
      expect(places.size).toBe(SESSIONS * WRITERS * EVENTS);
      expect(this.#count).toBe(places.size);
      for (const { id, events, seq } of this.#answered) {
        const found = events.map((event) => places.get(`${id} ${event}`));
        expect(found.at(-1)).toBe(seq);
        expect(found).toEqual([...found].sort((a, b) => a! - b!));
      }
    }
  }

  it('keeps every answered event once, and order, while the server is killed three times', async () => {
    const replica = await deployment.replica();
    const load = new Load();
    const running = load.run();
    for (const share of [0.2, 0.4, 0.6]) {
      await load.reached(share);
      await deployment.nats.server.kill();
      await deployment.nats.server.restart();
    }
    await running;
    await load.check();
    // Nobody else wrote, and nothing was lost: a term must not end over its server's restart.
    expect(replica.notices.filter(({ event }) => event === 'ended' || event === 'fault')).toEqual([]);
  }, 120_000);

  it('keeps every answered event once, and order, while the owner’s connection is cut ten times', async () => {
    const replica = await deployment.replica();
    const load = new Load();
    const running = load.run();
    for (let cut = 1; cut <= 10; cut++) {
      await load.reached(cut * 0.08);
      replica.proxy.cut();
    }
    await running;
    await load.check();
    expect(replica.notices.filter(({ event }) => event === 'ended' || event === 'fault')).toEqual([]);
  }, 120_000);

  it('keeps every answered event once, and order, while owners take the partitions from each other', async () => {
    await deployment.replica();
    const load = new Load();
    const running = load.run();
    for (let i = 1; i <= 6; i++) {
      await load.reached(i * 0.14);
      await deployment.replica();
    }
    await running;
    await load.check();
  }, 120_000);
});
