import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { LogClient } from '@longrein/log/client';
import { StreamApi, scan } from '@longrein/log/jetstream';
import { type ChildProcess, type TestNats, startTestNats, withProcesses } from '@longrein/testing';

const SESSIONS = 8;

describe('an owner that is stopped for longer than its lease, and then goes on', () => {
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
        LONGREIN_PARTITIONS: '1',
        LONGREIN_INSTANCE: name,
        LONGREIN_LEASE_TTL_MS: '1000',
        LOG_FORMAT: 'json',
        LOG_LEVEL: 'info',
      },
    });
    await child.json<{ msg?: string }>(({ msg }) => msg === 'log is up');
    return child;
  }

  it('stores nothing more, and spoils nothing of its successor’s', async () => {
    const owner = await replica('first');
    await replica('second');
    const nc = await nats.connect();
    const log = new LogClient(nc, { service: 'gateway', partitions: 1 });
    const sessions = Array.from({ length: SESSIONS }, (_, i) => `s${i}`);
    await Promise.all(sessions.map((id) => log.create(id)));

    const answered = new Map<string, { id: string; seq: number }>();
    let finished = false;
    let progress: () => void = () => undefined;
    const write = async (id: string): Promise<void> => {
      for (let since = 0; !finished;) {
        const event_id = randomUUID();
        const event = { type: 'input/queued', payload: { input_id: event_id, text: 'x', wake: false }, event_id };
        since = (await log.append(id, { events: [event], since }, { deadline_ms: 60_000 })).seq;
        answered.set(event_id, { id, seq: since });
        progress();
      }
    };
    const writing = Promise.all(sessions.flatMap((id) => [write(id), write(id), write(id)]));
    const further = (count: number): Promise<void> => {
      const wanted = answered.size + count;
      return new Promise((resolve) => {
        progress = () => {
          if (answered.size >= wanted) resolve();
        };
      });
    };
    await further(300);
    owner.freeze();
    // More than can be under way: the second one answers by now.
    await further(300);
    owner.thaw();
    await further(1_000);
    finished = true;
    await writing;

    const api = new StreamApi(nc);
    const terms: string[] = [];
    const stored = new Map<string, number[]>(sessions.map((id) => [id, []]));
    const ids = new Map<string, { id: string; seq: number }>();
    for (let from = 1; ;) {
      const request = { stream: 'SESSIONS_0', subject: 'sessions.0.>', from, limit: 1_000, max_bytes: 1_000_000 };
      const messages = await scan(nc, api, request);
      for (const { header, data, subject } of messages) {
        const term = header('Lr-Term')!;
        if (terms.at(-1) !== term) terms.push(term);
        if (subject.includes('$partition')) continue;
        const event = JSON.parse(Buffer.from(data).toString()) as { id: string; session_id: string; seq: number };
        stored.get(event.session_id)!.push(event.seq);
        ids.set(event.id, { id: event.session_id, seq: event.seq });
      }
      const last = messages.at(-1);
      if (!last) break;
      from = last.sequence + 1;
    }
    expect(terms).toHaveLength(2);
    for (const seqs of stored.values()) expect(seqs).toEqual(seqs.map((_, i) => i));
    for (const [id, place] of answered) expect(ids.get(id)).toEqual(place);
    expect(ids.size).toBe(answered.size + SESSIONS);
  }, 120_000);
});
