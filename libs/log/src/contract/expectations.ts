import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isLogError, type NewEvent } from '../port/index.js';
import { type LogHarness, useLog } from './harness.js';
import { appendEach, appendOf, cancel, chunk, input, newSession, readAll, refusal, select, upTo } from './kit.js';

const EVENTS: Record<string, () => NewEvent> = {
  'input/queued': input,
  'turn/cancel_requested': cancel,
  'session/model_selected': select,
  'assistant/chunk': chunk,
};
const TYPES = Object.keys(EVENTS);
const FACT_TYPES = TYPES.filter((type) => type !== 'assistant/chunk');

/** Appends under a condition. */
export function describeExpectations(harness: LogHarness): void {
  describe('expect', () => {
    const log = useLog(harness);

    it('lets an append through when nothing came after', async () => {
      const id = await newSession(log());
      const request = { events: [input()], expect: { seq: 0 }, since: 0 };
      expect(await log().as('gateway').append(id, request)).toMatchObject({ seq: 1, missed: [] });
    });

    it('refuses when any fact came after, and carries what was missed', async () => {
      const id = await newSession(log());
      const gateway = log().as('gateway');
      await appendEach(gateway, id, [input(), cancel()]);
      const error = await refusal(gateway.append(id, { events: [select()], expect: { seq: 1 }, since: 1 }), 'conflict');
      const events = await readAll(gateway, id);
      expect(error.details).toEqual({ missed: [events[2]], last_seq: 2 });
      expect(error.retryable).toBe(false);
      expect(events).toHaveLength(3);
    });

    it('never conflicts with chunks', async () => {
      const id = await newSession(log());
      await appendEach(log().as('worker'), id, [chunk(), chunk()]);
      const bare = { events: [input()], expect: { seq: 0 }, since: 0 };
      expect(await log().as('gateway').append(id, bare)).toEqual({ seq: 3, at: expect.any(String), missed: [] });
      await appendEach(log().as('worker'), id, [chunk()]);
      const naming = { events: [input()], expect: { seq: 3, none_of: ['assistant/chunk'] }, since: 3 };
      expect(await log().as('gateway').append(id, naming)).toMatchObject({ seq: 5 });
    });

    it('with none_of, refuses for the named types only', async () => {
      const id = await newSession(log());
      const gateway = log().as('gateway');
      await appendEach(gateway, id, [input(), select()]);
      const under = (none_of: string[]) => ({ events: [input()], expect: { seq: 0, none_of }, since: 0 });
      expect(await gateway.append(id, under(['turn/cancel_requested']))).toMatchObject({ seq: 3 });
      expect(await gateway.append(id, under([]))).toMatchObject({ seq: 4 });
      const error = await refusal(gateway.append(id, under(['turn/end', 'session/model_selected'])), 'conflict');
      expect(error.message).toContain('session/model_selected');
      expect(error.details.last_seq).toBe(4);
    });

    it('does not count events of the append itself', async () => {
      const id = await newSession(log());
      const request = {
        events: [cancel(), cancel()],
        expect: { seq: 0, none_of: ['turn/cancel_requested'] },
        since: 0,
      };
      expect(await log().as('gateway').append(id, request)).toMatchObject({ seq: 2 });
    });

    it('refuses a seq that the session has not reached', async () => {
      const id = await newSession(log());
      const error = await refusal(
        log()
          .as('gateway')
          .append(id, { events: [input()], expect: { seq: 5 }, since: 0 }),
        'conflict',
      );
      expect(error.details.last_seq).toBe(0);
    });

    it('lets exactly one of 50 appends at one position win', async () => {
      const id = await newSession(log());
      const outcomes = await Promise.allSettled(
        upTo(50).map((i) =>
          log()
            .as('gateway')
            .append(id, { events: [input(`racer ${i}`)], expect: { seq: 0 }, since: 0 }),
        ),
      );
      const won = outcomes.flatMap((outcome, i) => (outcome.status === 'fulfilled' ? [i] : []));
      const lost = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
      expect(won).toHaveLength(1);
      expect(lost.every((error) => isLogError(error, 'conflict'))).toBe(true);
      const events = await readAll(log().as('gateway'), id);
      expect(events.map((event) => (event.payload as { text?: string }).text)).toEqual([undefined, `racer ${won[0]}`]);
      for (const error of lost) expect(error).toMatchObject({ details: { missed: [events[1]] } });
    });

    it('refuses exactly when it must', async () => {
      const history = fc.array(fc.constantFrom(...TYPES), { maxLength: 12 });
      const none_of = fc.option(fc.subarray([...FACT_TYPES, 'turn/end']), { nil: undefined });
      await fc.assert(
        fc.asyncProperty(
          history,
          fc.nat(12),
          none_of,
          fc.integer({ min: -1, max: 12 }),
          async (types, at, not, seen) => {
            const id = await newSession(log());
            if (types.length > 0) await appendMixed(types, id);
            const seq = Math.min(at, types.length);
            const since = Math.min(seen, types.length);
            const events = await readAll(log().as('gateway'), id);
            const facts = events.filter((event) => event.type !== 'assistant/chunk');
            const hit = facts.some((fact) => fact.seq > seq && (!not || not.includes(fact.type)));
            const missed = facts.filter((fact) => fact.seq > since);

            const request = { events: [input()], expect: { seq, ...(not ? { none_of: not } : {}) }, since };
            if (hit) {
              const error = await refusal(log().as('gateway').append(id, request), 'conflict');
              expect(error.details).toEqual({ missed, last_seq: types.length });
            } else {
              const answer = await log().as('gateway').append(id, request);
              expect(answer).toEqual({ seq: types.length + 1, at: expect.any(String), missed });
            }
            expect((await log().as('gateway').read(id, { from_seq: 0 })).last_seq).toBe(types.length + (hit ? 0 : 1));
          },
        ),
        { numRuns: harness.runs ?? 25 },
      );
    });

    async function appendMixed(types: readonly string[], id: string): Promise<void> {
      for (const type of types) {
        const service = type === 'assistant/chunk' ? 'worker' : 'gateway';
        await log().as(service).append(id, appendOf(EVENTS[type]!()));
      }
    }
  });
}
