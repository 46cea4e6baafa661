import { randomUUID } from 'node:crypto';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { EventEnvelope } from '@longrein/events';
import { type Checkpoint, CheckpointMismatch, type NewEvent, type SessionLog, isLogError } from '@longrein/log';
import { availableNatsVersions } from '@longrein/testing';
import { headers } from '@nats-io/transport-node';
import { Deployment } from './deployment.js';

function input(text = 'hello'): NewEvent & { event_id: string } {
  return {
    type: 'input/queued',
    payload: { input_id: randomUUID(), text, wake: false },
    event_id: randomUUID(),
  };
}

async function everything(log: SessionLog, id: string): Promise<EventEnvelope[]> {
  const events: EventEnvelope[] = [];
  for (let from: number | null = 0; from !== null;) {
    const page = await log.read(id, { from_seq: from });
    events.push(...page.events);
    from = page.next_seq;
  }
  return events;
}

function expectWhole(events: readonly EventEnvelope[]): void {
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i));
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
}

describe.each(availableNatsVersions())('the log on nats-server $version ($name)', ({ path }) => {
  let deployment: Deployment;
  const start = async (options: { storeDir?: string } = {}): Promise<SessionLog> => {
    deployment = await Deployment.start({ binary: path, ...options });
    return deployment.as('gateway');
  };
  afterEach(async () => {
    await deployment.close();
  });

  it('has one writer when two replicas believe they own a partition: the older steps down, nothing is lost', async () => {
    const log = await start();
    const first = await deployment.replica();
    const sessions = Array.from({ length: 8 }, (_, i) => `s${i}`);
    await Promise.all(sessions.map((id) => log.create(id)));
    const acknowledged = new Map<string, { id: string; seq: number }>();
    const write = async (id: string, count: number): Promise<void> => {
      for (let i = 0; i < count; i++) {
        const event = input(`${id} ${i}`);
        const { seq } = await log.append(id, { events: [event], since: 0 });
        acknowledged.set(event.event_id, { id, seq });
      }
    };
    const writers = Promise.all(sessions.map((id) => write(id, 40)));
    // The second opens the partition while the first is in the middle of serving it.
    const second = await deployment.replica();
    await writers;

    expect(first.notices).toContainEqual(
      expect.objectContaining({ event: 'ended', kind: 'sessions', reason: expect.stringContaining('fenced') }),
    );
    expect(second.notices.filter(({ event }) => event === 'ended')).toEqual([]);
    expect(acknowledged.size).toBe(320);
    for (const id of sessions) {
      const events = await everything(log, id);
      expectWhole(events);
      expect(events).toHaveLength(41);
      // One caller's appends, one after another, keep their order.
      expect(events.slice(1).map(({ payload }) => (payload as { text: string }).text)).toEqual(
        Array.from({ length: 40 }, (_, i) => `${id} ${i}`),
      );
    }
    for (const [eventId, { id, seq }] of acknowledged) {
      expect((await log.read(id, { from_seq: seq, limit: 1 })).events[0]?.id).toBe(eventId);
    }
  });

  it('stores an event once and answers it when its acknowledgement is lost on the way', async () => {
    const log = await start();
    const { proxy } = await deployment.replica({ ack_timeout_ms: 200 });
    await log.create('s1');
    for (let round = 0; round < 5; round++) {
      const lost = proxy.dropPubAcks(({ stream }) => stream === 'SESSIONS_0', 3);
      const appends = Array.from({ length: 20 }, (_, i) => log.append('s1', { events: [input(`${i}`)], since: 0 }));
      await lost.whenDropped(3);
      const answers = await Promise.all(appends);
      expect(answers.map(({ seq }) => seq)).toEqual(Array.from({ length: 20 }, (_, i) => 1 + round * 20 + i));
    }
    const events = await everything(log, 's1');
    expectWhole(events);
    expect(events).toHaveLength(101);
  });

  it('keeps order and loses nothing when publishes themselves are lost on the way', async () => {
    const log = await start();
    const { proxy } = await deployment.replica({ ack_timeout_ms: 200 });
    await log.create('s1');
    let n = 0;
    const lost = proxy.drop('up', (frame) => frame.subject?.endsWith('.fact.input') === true && ++n % 7 === 3, 4);
    const appends = Array.from({ length: 60 }, (_, i) => log.append('s1', { events: [input(`${i}`)], since: 0 }));
    await lost.whenDropped(4);
    const answers = await Promise.all(appends);
    expect(answers.map(({ seq }) => seq)).toEqual(Array.from({ length: 60 }, (_, i) => 1 + i));
    const texts = (await everything(log, 's1')).slice(1).map(({ payload }) => (payload as { text: string }).text);
    expect(texts).toEqual(Array.from({ length: 60 }, (_, i) => `${i}`));
  });

  it('answers a retried batch as the first time after a failover and after the window of the server’s deduplication', async () => {
    const log = await start();
    const owner = await deployment.replica();
    const operator = await deployment.nats.connect();
    const info = await operator.request('$JS.API.STREAM.INFO.SESSIONS_0');
    const { config } = info.json<{ config: Record<string, unknown> }>();
    const window = { ...config, duplicate_window: 100_000_000 };
    await operator.request('$JS.API.STREAM.UPDATE.SESSIONS_0', JSON.stringify(window));

    await log.create('s1');
    await log.append('s1', { events: [input('before')], since: 0 });
    const batch = { events: [input('a'), input('b'), input('c')], since: 0 };
    const answer = await log.append('s1', batch);
    await log.append('s1', { events: [input('after')], since: answer.seq });
    await windowPassed(operator);
    await owner.die();
    await deployment.replica();
    expect(await log.append('s1', batch)).toEqual(answer);
    expectWhole(await everything(log, 's1'));
    expect(await everything(log, 's1')).toHaveLength(6);
  });

  it('halts, and stops its consumers, when the store comes back older than it was', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'longrein-store-'));
    const [storeDir, copy] = [join(directory, 'store'), join(directory, 'copy')];
    try {
      const log = await start({ storeDir });
      const owner = await deployment.replica();
      const { server } = deployment.nats;
      await log.create('s1');
      await log.append('s1', { events: [input('kept')], since: 0 });

      await server.stop();
      cpSync(storeDir, copy, { recursive: true });
      await server.restart();
      const consuming = new Consuming(log);
      for (let i = 0; i < 20; i++) await log.append('s1', { events: [input(`lost ${i}`)], since: 0 });
      await consuming.until(({ payload }) => (payload as { text?: string }).text === 'lost 19');
      await server.stop();
      rmSync(storeDir, { recursive: true });
      cpSync(copy, storeDir, { recursive: true });
      await server.restart();

      await expect(consuming.ended).rejects.toThrow(CheckpointMismatch);
      const refused = await log
        .append('s1', { events: [input('too late')], since: 0 }, { deadline_ms: 5_000 })
        .catch((error: unknown) => error);
      expect(isLogError(refused, 'unavailable')).toBe(true);
      expect((refused as Error).message).toMatch(/lost data/);
      expect(owner.notices).toContainEqual(
        expect.objectContaining({ event: 'ended', reason: expect.stringContaining('lost_data') }),
      );
      expect((await everything(log, 's1')).map(({ seq }) => seq)).toEqual([0, 1]);

      // A restarted log service goes on from what is there; the old checkpoint still does not fit.
      await owner.die();
      await deployment.replica();
      for (let i = 0; i < 40; i++) await log.append('s1', { events: [input(`new ${i}`)], since: 0 });
      await expect(new Consuming(log, consuming.checkpoint).ended).rejects.toThrow(CheckpointMismatch);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
});

/** Waits until the server has forgotten message ids that are as old as this call, by asking it about one. */
async function windowPassed(operator: Awaited<ReturnType<Deployment['nats']['connect']>>): Promise<void> {
  const probe = { name: 'PROBE', subjects: ['probe'], storage: 'memory', duplicate_window: 100_000_000 };
  await operator.request('$JS.API.STREAM.CREATE.PROBE', JSON.stringify(probe));
  const header = headers();
  header.set('Nats-Msg-Id', 'probe');
  for (let stored = 0; stored < 2;) {
    const ack = (await operator.request('probe', '', { headers: header, timeout: 2_000 })).json<{
      duplicate?: boolean;
    }>();
    if (!ack.duplicate) stored++;
  }
}

/** A consumer of partition 0 that runs in the background. */
class Consuming {
  checkpoint: Checkpoint | undefined;
  readonly ended: Promise<void>;
  readonly #seen: EventEnvelope[] = [];
  #look: () => void = () => undefined;

  constructor(log: SessionLog, after?: Checkpoint) {
    this.ended = this.#run(log, after);
    this.ended.catch(() => undefined);
  }

  /** Resolves when such an event has been delivered. */
  until(matches: (event: EventEnvelope) => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#look = () => {
        if (this.#seen.some(matches)) resolve();
      };
      this.#look();
    });
  }

  async #run(log: SessionLog, after?: Checkpoint): Promise<void> {
    for await (const delivery of log.consume({ partition: 0, select: 'facts', ...(after ? { after } : {}) })) {
      if (delivery.kind !== 'event') continue;
      this.checkpoint = delivery.checkpoint;
      this.#seen.push(delivery.event);
      this.#look();
    }
  }
}
