import { describe, expect, it } from '@jest/globals';
import type { EventEnvelope } from '@longrein/events';
import { type LogHarness, useLog } from './harness.js';
import {
  appendEach,
  appendOf,
  chunk,
  freshId,
  input,
  itCan,
  newSession,
  readAll,
  refusal,
  seqs,
  take,
  turnEnd,
  turnStart,
  upTo,
} from './kit.js';

/** Seqs: 0 created, 1 input, 2-4 first turn (3 is a chunk), 5 input, 6-8 second turn (7 is a chunk), 9 input. */
const CLOSED_TURNS = ['input', 'start', 'chunk', 'end', 'input', 'start', 'chunk', 'end', 'input'] as const;

/** Copies of a session's past. */
export function describeFork(harness: LogHarness): void {
  describe('fork', () => {
    const log = useLog(harness);

    async function parentOf(kinds: readonly ('input' | 'start' | 'chunk' | 'end')[]): Promise<string> {
      const id = await newSession(log());
      const events = { input, start: turnStart, chunk, end: turnEnd };
      for (const kind of kinds) {
        await log()
          .as(kind === 'input' ? 'gateway' : 'worker')
          .append(id, appendOf(events[kind]()));
      }
      return id;
    }

    const withoutIds = (events: readonly EventEnvelope[]) =>
      events.map(({ seq, type, payload, at, v }) => ({ seq, type, payload, at, v }));

    it('copies under new ids, keeps seq, type, payload and time, and names its parent (LOG-15)', async () => {
      const from = await parentOf(CLOSED_TURNS);
      const to = freshId();
      const before = await readAll(log().as('gateway'), from);
      expect(await log().as('gateway').fork({ from, to })).toEqual({ boundary: 9, last_seq: 10 });

      const child = await readAll(log().as('gateway'), to);
      expect(seqs(child)).toEqual(upTo(11));
      expect(child.every((event) => event.session_id === to)).toBe(true);
      expect(child[0]).toMatchObject({ type: 'session/created', payload: { parent_id: from } });
      expect(child[0]).not.toHaveProperty('copied');
      const copies = child.slice(1, 10);
      expect(withoutIds(copies)).toEqual(withoutIds(before.slice(1)));
      expect(copies.every((event) => event.copied === true)).toBe(true);
      expect(child[10]).toMatchObject({ type: 'session/forked', payload: { from, boundary: 9 } });
      expect(child[10]).not.toHaveProperty('copied');

      const parentIds = new Set(before.map((event) => event.id));
      expect(child.some((event) => parentIds.has(event.id))).toBe(false);
      expect(new Set(child.map((event) => event.id)).size).toBe(11);
      expect(await readAll(log().as('gateway'), from)).toEqual(before);
    });

    it.each([
      [0, 0],
      [1, 1],
      [2, 1],
      [3, 1],
      [4, 4],
      [5, 5],
      [7, 5],
      [8, 8],
      [9, 9],
      [500, 9],
    ])('at %i goes back to %i, the last fact with no turn open', async (wanted, boundary) => {
      const from = await parentOf(CLOSED_TURNS);
      const to = freshId();
      const forked = await log().as('gateway').fork({ from, to, boundary: wanted });
      expect(forked).toEqual({ boundary, last_seq: boundary + 1 });
      const child = await readAll(log().as('gateway'), to);
      expect(seqs(child)).toEqual(upTo(boundary + 2));
      expect(child.at(-1)).toMatchObject({ type: 'session/forked', payload: { from, boundary } });
    });

    it('without a boundary leaves out an open turn, and chunks after the last fact', async () => {
      const open = await parentOf(['input', 'start', 'end', 'start', 'chunk', 'input']);
      expect(await log().as('gateway').fork({ from: open, to: freshId() })).toEqual({ boundary: 3, last_seq: 4 });
      const trailing = await parentOf(['input', 'start', 'end', 'chunk']);
      expect(await log().as('gateway').fork({ from: trailing, to: freshId() })).toEqual({ boundary: 3, last_seq: 4 });
    });

    it('answers the same when repeated, also after both went on', async () => {
      const from = await parentOf(CLOSED_TURNS);
      const to = freshId();
      const gateway = log().as('gateway');
      const first = await gateway.fork({ from, to });
      expect(await gateway.fork({ from, to })).toEqual(first);
      await gateway.append(to, appendOf(input()));
      await gateway.append(from, appendOf(input()));
      expect(await gateway.fork({ from, to })).toEqual(first);
      expect(await readAll(gateway, to)).toHaveLength(12);
    });

    it('is done once when asked for by many at the same time', async () => {
      const from = await parentOf(CLOSED_TURNS);
      const to = freshId();
      const answers = await Promise.all(upTo(8).map(() => log().as('gateway').fork({ from, to, boundary: 5 })));
      expect(answers).toEqual(upTo(8).map(() => ({ boundary: 5, last_seq: 6 })));
      expect(seqs(await readAll(log().as('gateway'), to))).toEqual(upTo(7));
    });

    it('refuses a child that exists and is another session', async () => {
      const from = await parentOf(CLOSED_TURNS);
      const other = await newSession(log());
      const gateway = log().as('gateway');
      await refusal(gateway.fork({ from, to: other }), 'conflict');
      await refusal(gateway.fork({ from, to: from }), 'conflict');
      const to = freshId();
      await gateway.fork({ from, to, boundary: 5 });
      await refusal(gateway.fork({ from: other, to }), 'conflict');
      await refusal(gateway.fork({ from, to, boundary: 1 }), 'conflict');
      expect(await readAll(gateway, other)).toHaveLength(1);
      expect(await readAll(gateway, to)).toHaveLength(7);
    });

    it('leaves no child behind when it is refused', async () => {
      const to = freshId();
      const from = await newSession(log());
      for (const boundary of [-1, 0.5, Number.NaN, '1' as unknown as number]) {
        await refusal(log().as('gateway').fork({ from, to, boundary }), 'invalid_event');
      }
      await refusal(log().as('gateway').fork({ from: freshId(), to }), 'unknown_session');
      await refusal(log().as('gateway').read(to, { from_seq: 0 }), 'unknown_session');
    });

    it('gives a session like any other: it takes appends, and parent and child go separate ways', async () => {
      const from = await parentOf(['input', 'start', 'end']);
      const to = freshId();
      const gateway = log().as('gateway');
      await gateway.fork({ from, to });
      expect(await gateway.append(to, { ...appendOf(input('child')), expect: { seq: 4 }, since: 4 })).toMatchObject({
        seq: 5,
      });
      expect(await gateway.append(from, appendOf(input('parent')))).toMatchObject({ seq: 4 });
      expect(await gateway.create(to)).toEqual({ created: false, last_seq: 5 });
      expect(seqs(await take(gateway.follow(to, { from_seq: 0 }), 6))).toEqual(upTo(6));
    });

    it('can be forked again: a grandchild names its parent and carries the whole past', async () => {
      const from = await parentOf(['input', 'start', 'end']);
      const [child, grandchild] = [freshId(), freshId()];
      const gateway = log().as('gateway');
      await gateway.fork({ from, to: child });
      await appendEach(gateway, child, [input()]);
      expect(await gateway.fork({ from: child, to: grandchild })).toEqual({ boundary: 5, last_seq: 6 });
      const events = await readAll(gateway, grandchild);
      expect(events[0]?.payload).toMatchObject({ parent_id: child });
      expect(events.map((event) => [event.type, event.copied ?? false])).toEqual([
        ['session/created', false],
        ['input/queued', true],
        ['turn/start', true],
        ['turn/end', true],
        ['session/forked', true],
        ['input/queued', true],
        ['session/forked', false],
      ]);
      expect(events.at(-1)?.payload).toEqual({ from: child, boundary: 5 });
      expect(events[4]?.payload).toEqual({ from, boundary: 3 });
      expect(await gateway.append(grandchild, appendOf(input()))).toMatchObject({ seq: 7 });
    });

    itCan(harness, 'restartOwner')('reads the same and answers the same from a new owner', async () => {
      const from = await parentOf(CLOSED_TURNS);
      const to = freshId();
      const first = await log().as('gateway').fork({ from, to });
      const child = await readAll(log().as('gateway'), to);
      await log().restartOwner!();
      expect(await log().as('gateway').fork({ from, to })).toEqual(first);
      expect(await readAll(log().as('gateway'), to)).toEqual(child);
      expect(await log().as('gateway').append(to, appendOf(input()))).toMatchObject({ seq: 11 });
    });
  });
}
