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
  upTo,
} from './kit.js';

/** Pages of a session. */
export function describeRead(harness: LogHarness): void {
  describe('read', () => {
    const log = useLog(harness);

    /** A session of facts (f) and chunks (c) after its first event. */
    async function sessionOf(pattern: string): Promise<string> {
      const id = await newSession(log());
      for (const run of pattern.match(/f+|c+/g) ?? []) {
        const [service, make] = run[0] === 'c' ? (['worker', chunk] as const) : (['gateway', input] as const);
        await appendMany(
          log().as(service),
          id,
          upTo(run.length).map(() => make()),
        );
      }
      return id;
    }

    it('gives the tail from any seq (LOG-16)', async () => {
      const id = await sessionOf('ffccfcffff');
      const all = await readAll(log().as('gateway'), id);
      expect(seqs(all)).toEqual(upTo(11));
      for (let from_seq = 0; from_seq < 11; from_seq++) {
        const page = await log().as('gateway').read(id, { from_seq });
        expect(page).toEqual({ events: all.slice(from_seq), next_seq: null, last_seq: 10 });
      }
    });

    it('stops at the limit and says where to go on', async () => {
      const id = await sessionOf('ffffffff');
      const page = await log().as('gateway').read(id, { from_seq: 2, limit: 3 });
      expect([seqs(page.events), page.next_seq, page.last_seq]).toEqual([[2, 3, 4], 5, 8]);
      const last = await log().as('gateway').read(id, { from_seq: 5, limit: 4 });
      expect([seqs(last.events), last.next_seq, last.last_seq]).toEqual([[5, 6, 7, 8], null, 8]);
    });

    it('finds nothing beyond the end', async () => {
      const id = await sessionOf('ff');
      for (const from_seq of [3, 4, 1_000_000]) {
        expect(await log().as('gateway').read(id, { from_seq })).toEqual({ events: [], next_seq: null, last_seq: 2 });
      }
    });

    it('leaves out chunks when asked to', async () => {
      const id = await sessionOf('cfccfccc');
      const page = await log().as('gateway').read(id, { from_seq: 0, facts_only: true, limit: 2 });
      expect([seqs(page.events), page.last_seq]).toEqual([[0, 2], 8]);
      expect(seqs(await readAll(log().as('gateway'), id, { facts_only: true, limit: 2 }))).toEqual([0, 2, 5]);
      expect(seqs(await readAll(log().as('gateway'), id, { facts_only: true, from_seq: 6 }))).toEqual([]);
    });

    it('reads what was acknowledged, at once', async () => {
      const id = await newSession(log());
      for (let seq = 1; seq <= 20; seq++) {
        await log().as('gateway').append(id, appendOf(input()));
        expect((await log().as('titler').read(id, { from_seq: seq })).events).toMatchObject([{ seq }]);
      }
    });

    it('closes pages of large events early, and still gives all of them', async () => {
      const id = await newSession(log());
      await appendEach(
        log().as('gateway'),
        id,
        upTo(8).map((i) => input(`${i}`.repeat(200_000))),
      );
      const events = await readAll(log().as('gateway'), id);
      expect(seqs(events)).toEqual(upTo(9));
      expect(events.slice(1).map((event) => (event.payload as { text: string }).text[0])).toEqual([...'01234567']);
    });

    it('pages through a session longer than a page', async () => {
      const id = await sessionOf('f'.repeat(700) + 'c'.repeat(500) + 'f'.repeat(100));
      expect(seqs(await readAll(log().as('gateway'), id))).toEqual(upTo(1301));
      expect(seqs(await readAll(log().as('gateway'), id, { limit: 300 }))).toEqual(upTo(1301));
      const facts = [...upTo(701), ...upTo(100).map((i) => 1201 + i)];
      expect(seqs(await readAll(log().as('gateway'), id, { facts_only: true }))).toEqual(facts);
      expect(seqs(await readAll(log().as('gateway'), id, { from_seq: 1199, limit: 7 }))).toEqual(
        upTo(1301).slice(1199),
      );
    });

    itCan(harness, 'restartOwner')('reads the same, and numbering goes on, after a restart (LOG-14)', async () => {
      const id = await sessionOf('ffcf');
      const before = await readAll(log().as('gateway'), id);
      await log().restartOwner!();
      expect(await readAll(log().as('gateway'), id)).toEqual(before);
      expect(await log().as('gateway').append(id, appendOf(input()))).toMatchObject({ seq: 5 });
    });

    it('gives the same events page by page, whatever the pages', async () => {
      const pattern = fc.string({ unit: fc.constantFrom('f', 'c'), maxLength: 60 });
      await fc.assert(
        fc.asyncProperty(
          pattern,
          fc.integer({ min: 1, max: 20 }),
          fc.nat(60),
          fc.boolean(),
          async (shape, limit, from, facts_only) => {
            const id = await sessionOf(shape);
            const wanted = upTo(shape.length + 1).filter(
              (seq) => seq >= from && (!facts_only || shape[seq - 1] !== 'c'),
            );
            expect(seqs(await readAll(log().as('gateway'), id, { from_seq: from, limit, facts_only }))).toEqual(wanted);
          },
        ),
        { numRuns: harness.runs ?? 25 },
      );
    });

    it.each([
      ['a negative from_seq', { from_seq: -1 }],
      ['from_seq NaN', { from_seq: Number.NaN }],
      ['from_seq Infinity', { from_seq: Number.POSITIVE_INFINITY }],
      ['half a from_seq', { from_seq: 0.5 }],
      ['a from_seq that is text', { from_seq: '0' as unknown as number }],
      ['a limit of 0', { from_seq: 0, limit: 0 }],
      ['a negative limit', { from_seq: 0, limit: -1 }],
      ['half a limit', { from_seq: 0, limit: 1.5 }],
    ])('refuses %s', async (_, request) => {
      await refusal(
        log()
          .as('gateway')
          .read(await newSession(log()), request),
        'invalid_event',
      );
    });
  });
}
