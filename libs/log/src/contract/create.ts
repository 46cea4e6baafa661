import { describe, expect, it } from '@jest/globals';
import { type LogHarness, useLog } from './harness.js';
import { appendOf, freshId, input, newSession, readAll, refusal, seqs } from './kit.js';

/** Ids that name no session. */
export const BAD_IDS: readonly (readonly [string, unknown])[] = [
  ['with a dot', 'a.b'],
  ['empty', ''],
  ['of 129 characters', 'x'.repeat(129)],
  ["the partition's own", '$partition'],
  ["the fleet's", '$fleet'],
  ['with a wildcard', 'a*'],
  ['with a space', 'a b'],
  ['not ASCII', 'sé'],
  ['a number', 7],
  ['missing', undefined],
];

/** How sessions come into being. */
export function describeCreate(harness: LogHarness): void {
  describe('create', () => {
    const log = useLog(harness);

    it('writes seq 0 session/created with the parent (LOG-08)', async () => {
      const id = freshId();
      expect(await log().as('gateway').create(id, { parent_id: 'p1' })).toEqual({ created: true, last_seq: 0 });
      const events = await readAll(log().as('gateway'), id);
      expect(events).toEqual([
        {
          id: expect.any(String),
          session_id: id,
          seq: 0,
          at: expect.stringMatching(/Z$/),
          type: 'session/created',
          payload: { parent_id: 'p1' },
          v: 1,
        },
      ]);
    });

    it('leaves the parent out when there is none', async () => {
      const [created] = await readAll(log().as('loop'), await newSession(log()));
      expect(created?.payload).toEqual({});
    });

    it('says that a session exists, and where it ends', async () => {
      const id = await newSession(log());
      await log().as('gateway').append(id, appendOf(input(), input()));
      expect(await log().as('registry').create(id, { parent_id: 'other' })).toEqual({ created: false, last_seq: 2 });
      expect((await readAll(log().as('gateway'), id)).map((event) => event.type)).toEqual([
        'session/created',
        'input/queued',
        'input/queued',
      ]);
    });

    it('creates once when many create at the same time', async () => {
      const id = freshId();
      const results = await Promise.all(Array.from({ length: 10 }, () => log().as('gateway').create(id)));
      expect(results.filter((result) => result.created)).toHaveLength(1);
      expect(seqs(await readAll(log().as('gateway'), id))).toEqual([0]);
    });

    it('takes ids of 1 and of 128 characters of the whole alphabet', async () => {
      const long = `${freshId()}_${'Zz09-_'.repeat(30)}`.slice(0, 128);
      for (const id of [freshId()[2]!, long]) {
        expect(await log().as('gateway').create(id)).toEqual({ created: true, last_seq: 0 });
        expect((await readAll(log().as('gateway'), id))[0]?.session_id).toBe(id);
      }
    });

    it.each(BAD_IDS)('refuses an id that is %s, at every door', async (_, id) => {
      const bad = id as string;
      const gateway = log().as('gateway');
      await refusal(gateway.create(bad), 'invalid_event');
      await refusal(gateway.append(bad, appendOf(input())), 'invalid_event');
      await refusal(gateway.read(bad, { from_seq: 0 }), 'invalid_event');
      await refusal(gateway.fork({ from: bad, to: freshId() }), 'invalid_event');
      await refusal(gateway.fork({ from: await newSession(log()), to: bad }), 'invalid_event');
      await refusal(gateway.follow(bad, { from_seq: 0 })[Symbol.asyncIterator]().next(), 'invalid_event');
    });

    it('refuses a parent that no session can be', async () => {
      const id = freshId();
      await refusal(log().as('gateway').create(id, { parent_id: 'a.b' }), 'invalid_event');
      await refusal(log().as('gateway').read(id, { from_seq: 0 }), 'unknown_session');
    });

    it('knows no session that was never created (LOG-08, LOG-14)', async () => {
      const id = freshId();
      const gateway = log().as('gateway');
      await refusal(gateway.append(id, appendOf(input())), 'unknown_session');
      await refusal(gateway.read(id, { from_seq: 0 }), 'unknown_session');
      await refusal(gateway.follow(id, { from_seq: 0 })[Symbol.asyncIterator]().next(), 'unknown_session');
      await refusal(gateway.fork({ from: id, to: freshId() }), 'unknown_session');
      expect(await gateway.create(id)).toEqual({ created: true, last_seq: 0 });
    });
  });
}
