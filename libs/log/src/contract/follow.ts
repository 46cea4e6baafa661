import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type LogHarness, useLog } from './harness.js';
import {
  appendEach,
  appendMany,
  appendOf,
  chunk,
  input,
  itCan,
  newSession,
  readAll,
  refusal,
  seqs,
  take,
  upTo,
} from './kit.js';

/** Replay and tail of one session. */
export function describeFollow(harness: LogHarness): void {
  describe('follow', () => {
    const log = useLog(harness);

    it('replays, then tails: exactly the log (LOG-13)', async () => {
      const id = await newSession(log());
      await appendEach(log().as('gateway'), id, [input(), input()]);
      const followed = log().as('gateway').follow(id, { from_seq: 0 })[Symbol.asyncIterator]();
      const seen = [];
      for (let i = 0; i < 3; i++) seen.push((await followed.next()).value);
      const next = followed.next();
      await log().as('worker').append(id, appendOf(chunk(), chunk()));
      seen.push((await next).value, (await followed.next()).value);
      expect(seen).toEqual(await readAll(log().as('gateway'), id));
      await followed.return?.();
    });

    it('starts at any seq', async () => {
      const id = await newSession(log());
      await appendEach(log().as('gateway'), id, [input(), input(), input()]);
      for (const from_seq of [0, 1, 3]) {
        const events = await take(log().as('gateway').follow(id, { from_seq }), 4 - from_seq);
        expect(seqs(events)).toEqual(upTo(4).slice(from_seq));
      }
    });

    it('waits for a seq that does not exist yet, and skips what comes before it', async () => {
      const id = await newSession(log());
      const following = take(log().as('gateway').follow(id, { from_seq: 3 }), 2);
      await log()
        .as('gateway')
        .append(id, appendOf(...upTo(6).map((i) => input(`${i}`))));
      expect(seqs(await following)).toEqual([3, 4]);
    });

    it('gives every one of many followers the same', async () => {
      const id = await newSession(log());
      const followers = upTo(10).map((i) =>
        take(
          log()
            .as('gateway')
            .follow(id, { from_seq: i % 3 }),
          21 - (i % 3),
        ),
      );
      for (let i = 0; i < 10; i++) await log().as('gateway').append(id, appendOf(input(), input()));
      const all = await readAll(log().as('gateway'), id);
      for (const [i, events] of (await Promise.all(followers)).entries()) expect(events).toEqual(all.slice(i % 3));
    });

    it('sees its own session and nothing of others', async () => {
      const [id, other] = [await newSession(log()), await newSession(log())];
      const following = take(log().as('gateway').follow(id, { from_seq: 1 }), 20);
      await Promise.all(
        upTo(40).map((i) =>
          log()
            .as('gateway')
            .append(i % 2 ? id : other, appendOf(input())),
        ),
      );
      const events = await following;
      expect(seqs(events)).toEqual(upTo(21).slice(1));
      expect(events.every((event) => event.session_id === id)).toBe(true);
    });

    it('splices replay and tail without gap or duplicate under concurrent appends', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.nat(30), { minLength: 1, maxLength: 5 }), fc.nat(30), async (starts, before) => {
          const id = await newSession(log());
          const gateway = log().as('gateway');
          for (let i = 0; i < before; i++) await gateway.append(id, appendOf(input()));
          const appends = Promise.all(upTo(31 - before).map(() => gateway.append(id, appendOf(input()))));
          const followers = starts.map((from_seq) => take(gateway.follow(id, { from_seq }), 32 - from_seq));
          await appends;
          const all = await readAll(gateway, id);
          for (const [i, events] of (await Promise.all(followers)).entries()) {
            expect(events).toEqual(all.slice(starts[i]));
          }
        }),
        { numRuns: harness.runs ?? 25 },
      );
    });

    it('ends when the signal aborts, also while it waits', async () => {
      const id = await newSession(log());
      const stop = new AbortController();
      const followed = log().as('gateway').follow(id, { from_seq: 0, signal: stop.signal })[Symbol.asyncIterator]();
      expect((await followed.next()).value).toMatchObject({ seq: 0 });
      const waiting = followed.next();
      stop.abort();
      expect(await waiting).toEqual({ done: true, value: undefined });
      const before = log().as('gateway').follow(id, { from_seq: 0, signal: AbortSignal.abort() });
      expect(await before[Symbol.asyncIterator]().next()).toEqual({ done: true, value: undefined });
    });

    it('holds nobody up: a follower that reads slowly sees everything later', async () => {
      const id = await newSession(log());
      const slow = log().as('gateway').follow(id, { from_seq: 0 })[Symbol.asyncIterator]();
      await slow.next();
      await appendMany(
        log().as('gateway'),
        id,
        upTo(320).map(() => input()),
      );
      const rest = [];
      while (rest.length < 320) rest.push((await slow.next()).value as { seq: number });
      expect(rest.map((event) => event.seq)).toEqual(upTo(321).slice(1));
      await slow.return?.();
    });

    itCan(harness, 'restartOwner')('goes on across a change of owner', async () => {
      const id = await newSession(log());
      const following = take(log().as('gateway').follow(id, { from_seq: 0 }), 5);
      await appendEach(log().as('gateway'), id, [input(), input()]);
      await log().restartOwner!();
      await appendEach(log().as('gateway'), id, [input(), input()]);
      expect(await following).toEqual(await readAll(log().as('gateway'), id));
    });

    it.each([-1, 0.5, Number.NaN])('refuses to start at %d', async (from_seq) => {
      const id = await newSession(log());
      await refusal(log().as('gateway').follow(id, { from_seq })[Symbol.asyncIterator]().next(), 'invalid_event');
    });
  });
}
