import { describe, expect, it } from '@jest/globals';
import type { AppendRequest } from '../port/index.js';
import { type LogHarness, useLog } from './harness.js';
import {
  appendMany,
  appendOf,
  cancel,
  chunk,
  identified,
  input,
  itCan,
  newSession,
  readAll,
  refusal,
  select,
  upTo,
} from './kit.js';

/** Retries: the same request again. */
export function describeIdempotence(harness: LogHarness): void {
  describe('a retry', () => {
    const log = useLog(harness);
    const append = (id: string, request: AppendRequest) => log().as('gateway').append(id, request);

    it('answers as the first time and stores nothing', async () => {
      const id = await newSession(log());
      await append(id, appendOf(input()));
      const request = appendOf(identified(input()));
      const first = await append(id, request);
      expect(first).toMatchObject({ seq: 2, missed: [{ seq: 0 }, { seq: 1 }] });
      expect(await append(id, request)).toEqual(first);
      expect(await readAll(log().as('gateway'), id)).toHaveLength(3);
    });

    it('answers as the first time with other events in between, and whatever it expected', async () => {
      const id = await newSession(log());
      const request = { events: [identified(cancel()), identified(input())], expect: { seq: 0 }, since: 0 };
      const first = await append(id, request);
      await log().as('worker').append(id, appendOf(chunk(), chunk()));
      await append(id, appendOf(cancel(), select()));
      expect(await append(id, request)).toEqual(first);
      expect(first).toEqual({ seq: 2, at: expect.any(String), missed: [] });
      expect(await readAll(log().as('gateway'), id)).toHaveLength(7);
    });

    it('answers every one of many sent at the same time alike', async () => {
      const id = await newSession(log());
      const request = appendOf(identified(input()), identified(select()));
      const answers = await Promise.all(upTo(20).map(() => append(id, request)));
      expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
      expect(await readAll(log().as('gateway'), id)).toHaveLength(3);
    });

    itCan(harness, 'restartOwner')('answers as the first time from a new owner, once and again', async () => {
      const id = await newSession(log());
      await append(id, appendOf(input()));
      const requests = upTo(5).map((i) => ({
        ...appendOf(identified(input(`${i}`)), identified(select())),
        since: i - 1,
      }));
      const first = [];
      for (const request of requests) first.push(await append(id, request));
      await log().as('worker').append(id, appendOf(chunk(), chunk()));
      for (const since of [0, 1]) {
        await log().restartOwner!();
        await append(id, { ...appendOf(select()), since });
        for (const [i, request] of requests.entries()) expect(await append(id, request)).toEqual(first[i]);
      }
      expect(await readAll(log().as('gateway'), id)).toHaveLength(2 + 10 + 2 + 2);
    });

    it('is recognised hundreds of events later', async () => {
      const id = await newSession(log());
      const request = { ...appendOf(identified(input())), since: 0 };
      const first = await append(id, request);
      await appendMany(
        log().as('gateway'),
        id,
        upTo(12 * 64).map(() => input()),
      );
      expect(await append(id, request)).toEqual(first);
      expect((await log().as('gateway').read(id, { from_seq: 0, limit: 1 })).last_seq).toBe(1 + 12 * 64);
    });

    it('of a batch answers with its last event', async () => {
      const id = await newSession(log());
      const request = appendOf(...upTo(64).map(() => identified(input())));
      const first = await append(id, request);
      expect(first.seq).toBe(64);
      expect(await append(id, request)).toEqual(first);
    });

    it('is told apart by session: equal ids in two sessions are two events', async () => {
      const [one, two] = [await newSession(log()), await newSession(log())];
      const event = identified(input(), 'the-same-id');
      expect(await append(one, appendOf(event))).toMatchObject({ seq: 1 });
      expect(await append(two, appendOf(event))).toMatchObject({ seq: 1 });
      expect((await readAll(log().as('gateway'), two))[1]).toMatchObject({ id: 'the-same-id', session_id: two });
    });

    it('cannot be another event under the same id', async () => {
      const id = await newSession(log());
      await append(id, appendOf(identified(input(), 'e1')));
      const error = await refusal(append(id, appendOf(identified(cancel(), 'e1'))), 'conflict');
      expect(error.details.stored).toEqual([1]);
      await refusal(append(id, appendOf(identified(input(), 'e0'), identified(input(), 'e1'))), 'conflict');
      expect(await readAll(log().as('gateway'), id)).toHaveLength(2);
    });

    it('leaves the session usable when an id comes again above what the caller has seen', async () => {
      const id = await newSession(log());
      const event = identified(input(), 'again');
      await append(id, appendOf(event));
      await append(id, { events: [event], since: 1 }).catch(() => undefined);
      await append(id, { ...appendOf(select()), since: 1 });
      const events = await readAll(log().as('gateway'), id);
      expect(events.map((stored) => stored.seq)).toEqual(upTo(events.length));
      expect(events.at(-1)?.type).toBe('session/model_selected');
    });

    it('cannot be told from itself: one id twice in an append is refused', async () => {
      const id = await newSession(log());
      const event = identified(input());
      const error = await refusal(append(id, appendOf(event, input(), event)), 'invalid_event');
      expect(error.message).toContain(event.event_id);
      expect(await readAll(log().as('gateway'), id)).toHaveLength(1);
    });

    describe('of a batch whose owner died in the middle', () => {
      const whole = (): AppendRequest => ({
        events: [identified(cancel()), identified(input()), identified(select()), identified(input())],
        expect: { seq: 0 },
        since: 0,
      });

      itCan(harness, 'storePrefix')('stores the rest, and answers alike from then on', async () => {
        const id = await newSession(log());
        const request = whole();
        await log().storePrefix!({ service: 'gateway', id, request }, 2);
        expect(await readAll(log().as('gateway'), id)).toHaveLength(3);
        const answer = await append(id, request);
        expect(answer).toEqual({ seq: 4, at: expect.any(String), missed: [] });
        const events = await readAll(log().as('gateway'), id);
        expect(events.map((event) => event.id)).toEqual([
          events[0]!.id,
          ...request.events.map((event) => event.event_id),
        ]);
        expect(events.slice(1).map((event) => event.batch?.index)).toEqual(upTo(4));
        expect(new Set(events.slice(1).map((event) => event.batch?.id)).size).toBe(1);
        expect(await append(id, request)).toEqual(answer);
      });

      itCan(harness, 'storePrefix')('stores the rest after events that do not conflict, and reports them', async () => {
        const id = await newSession(log());
        const request = { ...whole(), expect: { seq: 0, none_of: ['turn/cancel_requested'] } };
        await log().storePrefix!({ service: 'gateway', id, request }, 1);
        const other = await append(id, { ...appendOf(input()), since: 1 });
        const answer = await append(id, request);
        expect(answer).toMatchObject({ seq: 5, missed: [{ seq: other.seq }] });
        expect(await append(id, request)).toEqual(answer);
      });

      itCan(harness, 'storePrefix')('is refused when a fact forbids the rest, and says what is stored', async () => {
        const id = await newSession(log());
        const request = whole();
        await log().storePrefix!({ service: 'gateway', id, request }, 2);
        const other = await append(id, { ...appendOf(input()), since: 2 });
        const error = await refusal(append(id, request), 'conflict');
        expect(error.details).toMatchObject({ stored: [1, 2], last_seq: 3, missed: [{ seq: other.seq }] });
        expect(await readAll(log().as('gateway'), id)).toHaveLength(4);
      });
    });
  });
}
