import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type EventEnvelope, partitionOf } from '@longrein/events';
import type { SessionLog } from '@longrein/log';
import { LogClient } from '@longrein/log/client';
import { type ChildProcess, type TestNats, startTestNats, withProcesses } from '@longrein/testing';

const PARTITIONS = 4;
const SESSIONS = 64;
const APPENDS = 20_000;
const WRITERS = 8;
const KILLS = 3;

interface Acknowledged {
  readonly session: string;
  readonly seq: number;
}

describe('the log while its owner is killed three times', () => {
  const processes = withProcesses();
  let nats: TestNats;
  beforeAll(async () => {
    nats = await startTestNats();
  });
  afterAll(() => nats.stop());

  async function replica(name: string): Promise<ChildProcess> {
    const child = processes.start({
      entry: 'apps/log/dist/main.js',
      env: {
        NATS_URL: nats.url,
        PORT: '0',
        LONGREIN_PARTITIONS: String(PARTITIONS),
        LONGREIN_INSTANCE: name,
        LONGREIN_LEASE_TTL_MS: '1500',
        LOG_FORMAT: 'json',
        LOG_LEVEL: 'info',
      },
    });
    await child.json<{ msg?: string }>(({ msg }) => msg === 'log is up');
    return child;
  }

  async function client(): Promise<SessionLog> {
    return new LogClient(await nats.connect(), { service: 'gateway', partitions: PARTITIONS });
  }

  it('stores every acknowledged event once, without gaps, and no unacknowledged one twice', async () => {
    // One replica owns everything whenever it is killed; the other waits for what becomes free.
    let owner = await replica('r0');
    const reader = await client();
    const sessions = Array.from({ length: SESSIONS }, (_, i) => `s${i}`);
    expect(new Set(sessions.map((id) => partitionOf(id, PARTITIONS))).size).toBe(PARTITIONS);
    await Promise.all(sessions.map((id) => reader.create(id)));

    const acknowledged = new Map<string, Acknowledged>();
    const refused = new Set<string>();
    let sent = 0;
    let progress: () => void = () => undefined;
    const writer = async (log: SessionLog): Promise<void> => {
      const known = new Map<string, number>();
      const one = async (): Promise<void> => {
        while (sent < APPENDS) {
          const session = sessions[sent++ % SESSIONS]!;
          const event_id = randomUUID();
          const payload = { input_id: event_id, text: `text of ${event_id}`, wake: false };
          try {
            const { seq } = await log.append(
              session,
              { events: [{ type: 'input/queued', payload, event_id }], since: known.get(session) ?? 0 },
              { deadline_ms: 60_000 },
            );
            known.set(session, Math.max(seq, known.get(session) ?? 0));
            acknowledged.set(event_id, { session, seq });
          } catch {
            refused.add(event_id);
          }
          progress();
        }
      };
      // Several appends under way per writer, so that a kill finds the pipeline full.
      await Promise.all(Array.from({ length: 8 }, one));
    };
    const writing = Promise.all(Array.from({ length: WRITERS }, async () => writer(await client())));
    const reached = (count: number): Promise<void> =>
      new Promise((resolve) => {
        progress = () => {
          if (acknowledged.size >= count) resolve();
        };
      });

    for (let kill = 1; kill <= KILLS; kill++) {
      await reached((APPENDS / (KILLS + 1)) * kill);
      await owner.kill();
      owner = await replica(`r${kill}`);
    }
    await writing;

    expect(acknowledged.size + refused.size).toBe(APPENDS);
    expect(refused.size).toBe(0);
    const stored = new Map<string, Acknowledged[]>();
    for (const session of sessions) {
      const events: EventEnvelope[] = [];
      for (let from: number | null = 0; from !== null;) {
        const page = await reader.read(session, { from_seq: from, limit: 2_000 });
        events.push(...page.events);
        from = page.next_seq;
      }
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i));
      for (const { id, seq } of events.slice(1)) stored.set(id, [...(stored.get(id) ?? []), { session, seq }]);
    }
    expect(stored.size).toBe(APPENDS);
    for (const [id, answer] of acknowledged) expect(stored.get(id)).toEqual([answer]);
  }, 180_000);
});
