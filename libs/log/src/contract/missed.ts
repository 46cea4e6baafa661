import { describe, expect, it } from '@jest/globals';
import { type LogHarness, useLog } from './harness.js';
import {
  appendEach,
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

/** What an append tells its caller about the events it had not seen. */
export function describeMissed(harness: LogHarness): void {
  describe('missed', () => {
    const log = useLog(harness);

    it('is every fact above since, and no chunk', async () => {
      const id = await newSession(log());
      await appendEach(log().as('gateway'), id, [input(), cancel()]);
      await appendEach(log().as('worker'), id, [chunk(), chunk()]);
      await appendEach(log().as('gateway'), id, [select()]);
      const facts = await readAll(log().as('gateway'), id, { facts_only: true });
      for (const since of [-1, 0, 1, 2, 3, 4, 5]) {
        const { missed } = await log()
          .as('worker')
          .append(id, { events: [chunk()], since });
        expect(missed).toEqual(facts.filter((fact) => fact.seq > since));
      }
    });

    it('is empty for a caller who has seen everything', async () => {
      const id = await newSession(log());
      for (let seq = 0; seq < 5; seq++) {
        const request = { ...appendOf(input()), since: seq };
        expect(await log().as('gateway').append(id, request)).toMatchObject({ seq: seq + 1, missed: [] });
      }
    });

    it('leaves out the append itself', async () => {
      const id = await newSession(log());
      const { missed } = await log()
        .as('gateway')
        .append(id, { ...appendOf(input(), cancel()), since: 0 });
      expect(missed).toEqual([]);
    });

    it('goes up to 64 facts; more are truncated', async () => {
      const id = await newSession(log());
      const gateway = log().as('gateway');
      await gateway.append(id, { ...appendOf(...upTo(64).map(() => input())), since: 0 });
      const facts = await readAll(gateway, id);
      const exact = await gateway.append(id, { ...appendOf(identified(select())), since: 0 });
      expect(exact.missed).toEqual(facts.slice(1));
      const request = { ...appendOf(identified(select())), since: 0 };
      const truncated = await gateway.append(id, request);
      expect(truncated).toMatchObject({ seq: 66, missed: 'truncated' });
      expect(await gateway.append(id, request)).toEqual(truncated);
      const error = await refusal(
        gateway.append(id, { ...appendOf(input()), expect: { seq: 0 }, since: 0 }),
        'conflict',
      );
      expect(error.details).toMatchObject({ missed: 'truncated', last_seq: 66 });
    });

    it('is truncated when it would be too large', async () => {
      const id = await newSession(log());
      const gateway = log().as('gateway');
      await appendEach(gateway, id, [input('x'.repeat(200_000)), input('y'.repeat(200_000))]);
      const since = (seq: number) => gateway.append(id, { ...appendOf(select()), since: seq });
      expect(await since(0)).toMatchObject({ missed: 'truncated' });
      expect(await since(1)).toMatchObject({ missed: [{ seq: 2 }, { seq: 3 }] });
    });

    it('finds the few facts behind many chunks', async () => {
      const id = await newSession(log());
      await appendEach(log().as('gateway'), id, [input(), cancel()]);
      await appendMany(
        log().as('worker'),
        id,
        upTo(640).map(() => chunk()),
      );
      const { missed } = await log()
        .as('gateway')
        .append(id, { ...appendOf(select()), since: 0 });
      expect(missed).toMatchObject([{ seq: 1 }, { seq: 2 }]);
    });

    itCan(harness, 'restartOwner')('is as exact from a new owner', async () => {
      const id = await newSession(log());
      await appendEach(log().as('gateway'), id, [input(), cancel()]);
      await appendEach(log().as('worker'), id, [chunk(), chunk()]);
      const facts = await readAll(log().as('gateway'), id, { facts_only: true });
      await log().restartOwner!();
      const request = { events: [select()], expect: { seq: 1 }, since: 0 };
      const error = await refusal(log().as('gateway').append(id, request), 'conflict');
      expect(error.details).toEqual({ missed: facts.slice(1), last_seq: 4 });
      expect(await log().as('gateway').append(id, appendOf(select()))).toMatchObject({ seq: 5, missed: facts });
    });
  });
}
