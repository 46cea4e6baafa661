import { describe, expect, it } from '@jest/globals';
import { type LogHarness, useLog } from './harness.js';
import {
  appendEach,
  appendOf,
  call,
  chunk,
  freshId,
  identified,
  input,
  newSession,
  readAll,
  refusal,
  select,
  seqs,
  upTo,
} from './kit.js';

const MICROSECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

/** What an append stores. */
export function describeAppend(harness: LogHarness): void {
  describe('append', () => {
    const log = useLog(harness);

    it('stores exactly the envelope of the design, times in UTC with microseconds (LOG-09)', async () => {
      const id = await newSession(log());
      const payload = { input_id: 'i1', text: 'Grüße, 世界 🚀 \u0000 "quoted"\n', wake: true };
      const before = Date.now();
      const result = await log()
        .as('gateway')
        .append(id, appendOf({ type: 'input/queued', payload, event_id: 'e1' }));
      const [, event] = await readAll(log().as('gateway'), id);
      expect(event).toStrictEqual({
        id: 'e1',
        session_id: id,
        seq: 1,
        at: expect.stringMatching(MICROSECONDS),
        type: 'input/queued',
        payload,
        v: 1,
      });
      expect(result).toEqual({ seq: 1, at: event?.at, missed: [expect.objectContaining({ seq: 0 })] });
      expect(Math.abs(Date.parse(event!.at) - before)).toBeLessThan(24 * 3600_000);
    });

    it('makes an id for every event that has none', async () => {
      const id = await newSession(log());
      await log().as('gateway').append(id, appendOf(input(), input()));
      await log().as('gateway').append(id, appendOf(input()));
      const ids = (await readAll(log().as('gateway'), id)).map((event) => event.id);
      expect(new Set(ids).size).toBe(4);
      expect(ids.every((each) => each.length > 0)).toBe(true);
    });

    it('numbers without a gap under concurrent writers; every answer is the place of its event (LOG-01)', async () => {
      const id = await newSession(log());
      const writers = ['gateway', 'registry'] as const;
      const answers = await Promise.all(
        Array.from({ length: 100 }, async (_, i) => {
          const event = identified(input(`text ${i}`));
          const answer = await log()
            .as(writers[i % 2]!)
            .append(id, appendOf(event));
          return { event_id: event.event_id, answer };
        }),
      );
      const events = await readAll(log().as('gateway'), id);
      expect(seqs(events)).toEqual(upTo(101));
      for (const { event_id, answer } of answers) {
        expect(events[answer.seq]).toMatchObject({ id: event_id, at: answer.at });
      }
    });

    it('keeps the order of one caller that does not wait for its answers (LOG-01)', async () => {
      const id = await newSession(log());
      const gateway = log().as('gateway');
      const answers = await Promise.all(upTo(50).map((i) => gateway.append(id, appendOf(input(`text ${i}`)))));
      expect(answers.map((answer) => answer.seq)).toEqual(upTo(50).map((i) => i + 1));
    });

    it('numbers every session for itself (LOG-02)', async () => {
      const ids = await Promise.all(upTo(6).map(() => newSession(log())));
      const appends = upTo(20).flatMap((i) => ids.map((id) => ({ id, event: input(`${id} ${i}`) })));
      await Promise.all(appends.map(({ id, event }) => log().as('gateway').append(id, appendOf(event))));
      for (const id of ids) {
        const events = await readAll(log().as('gateway'), id);
        expect(seqs(events)).toEqual(upTo(21));
        const texts = events.slice(1).map((event) => (event.payload as { text: string }).text);
        expect(new Set(texts)).toEqual(new Set(upTo(20).map((i) => `${id} ${i}`)));
      }
    });

    it('stores a batch side by side, each event with its place in it', async () => {
      const id = await newSession(log());
      const batches = upTo(8).map((b) => upTo(5).map((i) => identified(input(), `b${b}-${i}`)));
      const answers = await Promise.all(
        batches.map((batch) =>
          log()
            .as('gateway')
            .append(id, appendOf(...batch)),
        ),
      );
      const events = await readAll(log().as('gateway'), id);
      expect(seqs(events)).toEqual(upTo(41));
      answers.forEach((answer, b) => {
        const stored = events.slice(answer.seq - 4, answer.seq + 1);
        expect(stored.map((event) => event.id)).toEqual(batches[b]!.map((event) => event.event_id));
        expect(stored.map((event) => event.batch?.index)).toEqual(upTo(5));
        expect(stored.map((event) => event.batch?.count)).toEqual([5, 5, 5, 5, 5]);
        expect(new Set(stored.map((event) => event.batch?.id)).size).toBe(1);
      });
      expect(new Set(events.slice(1).map((event) => event.batch?.id)).size).toBe(8);
    });

    it('takes 64 events at once, and neither 65 nor none', async () => {
      const id = await newSession(log());
      const gateway = log().as('gateway');
      expect(await gateway.append(id, appendOf(...upTo(64).map(() => input())))).toMatchObject({ seq: 64 });
      await refusal(gateway.append(id, appendOf(...upTo(65).map(() => input()))), 'invalid_event');
      await refusal(gateway.append(id, appendOf()), 'invalid_event');
      expect((await gateway.read(id, { from_seq: 0 })).last_seq).toBe(64);
    });

    it('stores nothing of a batch with one bad event, and says which', async () => {
      const id = await newSession(log());
      const gateway = log().as('gateway');
      const bad = { type: 'input/queued', payload: { input_id: 'i', text: 1, wake: true } };
      const error = await refusal(gateway.append(id, appendOf(input(), input(), bad, input())), 'invalid_event');
      expect(error.message).toContain('events[2]');
      const big = { ...input('x'.repeat(600_000)) };
      await refusal(gateway.append(id, appendOf(input(), big)), 'too_large');
      expect(await gateway.append(id, appendOf(input()))).toMatchObject({ seq: 1 });
    });

    it('keeps content unchanged through JSON (LOG-10)', async () => {
      const id = await newSession(log());
      const args = {
        b: [1, -0.5, 1e21, true, null, '', { nested: [] }],
        a: {},
        0: 'numeric key',
        constructor: 'c',
        toString: 't',
        'key with spaces, "quotes" and ünïcode': '✓',
        '': 'empty key',
      };
      await log()
        .as('worker')
        .append(id, appendOf(call({ ...args, left_out: undefined })));
      const [, event] = await readAll(log().as('worker'), id);
      expect(event?.payload).toStrictEqual({ id: 'c1', name: 'search', args });
    });

    it('does not see what the caller does to the payload afterwards', async () => {
      const id = await newSession(log());
      const args = { list: ['before'] };
      const stored = log()
        .as('worker')
        .append(id, appendOf(call(args)));
      await stored;
      args.list.push('after');
      expect((await readAll(log().as('worker'), id))[1]?.payload).toMatchObject({ args: { list: ['before'] } });
    });

    it('fills in upto_seq of session/compacted: the seq before its own', async () => {
      const id = await newSession(log());
      await appendEach(log().as('gateway'), id, [input(), select()]);
      const compacted = { type: 'session/compacted', payload: { summary: 'short', upto_seq: 0 } };
      const usage = { prompt_tokens: 1, completion_tokens: 1 };
      const spent = { type: 'utility/usage', payload: { purpose: 'compaction', model: 'test/model', usage } };
      await log()
        .as('compactor')
        .append(id, appendOf({ type: 'session/compacted', payload: { summary: 'first' } }));
      await log().as('compactor').append(id, appendOf(spent, compacted));
      const events = await readAll(log().as('compactor'), id);
      expect(events[3]?.payload).toEqual({ summary: 'first', upto_seq: 2 });
      expect(events[5]?.payload).toEqual({ summary: 'short', upto_seq: 4 });
    });

    it('numbers chunks and facts alike', async () => {
      const id = await newSession(log());
      await appendEach(log().as('worker'), id, [chunk('a'), chunk('b')]);
      expect(await log().as('gateway').append(id, appendOf(input()))).toMatchObject({ seq: 3 });
    });

    it('refuses an append to one session without harm to another', async () => {
      const id = await newSession(log());
      const outcomes = await Promise.allSettled([
        log().as('gateway').append(freshId(), appendOf(input())),
        log().as('gateway').append(id, appendOf(input())),
      ]);
      expect(outcomes.map((outcome) => outcome.status)).toEqual(['rejected', 'fulfilled']);
    });
  });
}
