import { describe, expect, it } from '@jest/globals';
import type { OwnerScope } from '@longrein/events';
import { type LogHarness, useLog } from './harness.js';
import { appendOf, freshIdIn, identified, input, itCan, newSession, readAll, refusal, turnStart } from './kit.js';

/** Fencing of services that own partitions. */
export function describeEpochs(harness: LogHarness): void {
  describe('epochs', () => {
    const log = useLog(harness);
    const sessionIn = (partition: number) => newSession(log(), freshIdIn(partition, log().partitions));
    const own = (partition: number, owner: string, scope: OwnerScope = 'loop') =>
      log().as('loop').own(partition, { scope, owner });

    it('are asked of nobody while the scope has no owner', async () => {
      const id = await sessionIn(0);
      expect(await log().as('loop').append(id, appendOf(turnStart()))).toMatchObject({ seq: 1 });
    });

    it('rise with every new owner; lower and missing ones are refused from then on', async () => {
      const id = await sessionIn(1);
      const loop = log().as('loop');
      const first = await own(1, 'replica-a');
      expect(await loop.append(id, { ...appendOf(turnStart()), epoch: first.epoch })).toMatchObject({ seq: 1 });
      const second = await own(1, 'replica-b');
      expect(second.epoch).toBeGreaterThan(first.epoch);

      const lower = await refusal(loop.append(id, { ...appendOf(turnStart()), epoch: first.epoch }), 'fenced');
      expect(lower.details.epoch).toBe(second.epoch);
      expect(lower.retryable).toBe(false);
      const missing = await refusal(loop.append(id, appendOf(turnStart())), 'fenced');
      expect(missing.details.epoch).toBe(second.epoch);
      await refusal(loop.append(id, { ...appendOf(turnStart()), epoch: second.epoch + 1000 }), 'fenced');
      expect(await loop.append(id, { ...appendOf(turnStart()), epoch: second.epoch })).toMatchObject({ seq: 2 });
      expect(await readAll(loop, id)).toHaveLength(3);
    });

    it('are confirmed to an owner that asks again', async () => {
      const { epoch } = await own(2, 'replica-a', 'registry');
      expect(await own(2, 'replica-a', 'registry')).toEqual({ epoch });
      const next = await own(2, 'replica-b', 'registry');
      expect(next.epoch).toBeGreaterThan(epoch);
      expect((await own(2, 'replica-a', 'registry')).epoch).toBeGreaterThan(next.epoch);
    });

    it('bind one scope on one partition', async () => {
      const { epoch } = await own(3, 'replica-a');
      const here = await sessionIn(3);
      const elsewhere = await sessionIn(0);
      expect(await log().as('registry').append(here, appendOf(input()))).toMatchObject({ seq: 1 });
      expect(await log().as('gateway').append(here, appendOf(input()))).toMatchObject({ seq: 2 });
      expect(await log().as('loop').append(elsewhere, appendOf(turnStart()))).toMatchObject({ seq: 1 });
      await refusal(log().as('loop').append(here, appendOf(turnStart())), 'fenced');
      const registry = await own(3, 'registry-a', 'registry');
      await refusal(log().as('registry').append(here, appendOf(input())), 'fenced');
      const request = { ...appendOf(input()), epoch: registry.epoch };
      expect(await log().as('registry').append(here, request)).toMatchObject({ seq: 3 });
      expect(
        await log()
          .as('loop')
          .append(here, { ...appendOf(turnStart()), epoch }),
      ).toMatchObject({ seq: 4 });
    });

    it('do not take back an answer: a retry of what is stored answers under any epoch', async () => {
      const id = await sessionIn(1);
      const { epoch } = await own(1, 'replica-c');
      const request = { ...appendOf(identified(turnStart())), epoch };
      const first = await log().as('loop').append(id, request);
      await own(1, 'replica-d');
      expect(await log().as('loop').append(id, request)).toEqual(first);
    });

    itCan(harness, 'restartOwner')('hold when the log itself fails over', async () => {
      const id = await sessionIn(2);
      const old = await own(2, 'replica-x');
      const other = await own(2, 'registry-x', 'registry');
      const { epoch } = await own(2, 'replica-y');
      await log().restartOwner!();
      const loop = log().as('loop');
      const lower = await refusal(loop.append(id, { ...appendOf(turnStart()), epoch: old.epoch }), 'fenced');
      expect(lower.details.epoch).toBe(epoch);
      await refusal(loop.append(id, appendOf(turnStart())), 'fenced');
      await refusal(log().as('registry').append(id, appendOf(input())), 'fenced');
      expect(await loop.append(id, { ...appendOf(turnStart()), epoch })).toMatchObject({ seq: 1 });
      expect(
        await log()
          .as('registry')
          .append(id, { ...appendOf(input()), epoch: other.epoch }),
      ).toMatchObject({ seq: 2 });
      expect(await own(2, 'replica-y')).toEqual({ epoch });
      expect((await own(2, 'replica-z')).epoch).toBeGreaterThan(epoch);
    });

    it.each([
      ['a partition below the first', -1, { scope: 'loop', owner: 'a' }],
      ['a partition above the last', 4, { scope: 'loop', owner: 'a' }],
      ['half a partition', 0.5, { scope: 'loop', owner: 'a' }],
      ['an unknown scope', 0, { scope: 'titler', owner: 'a' }],
      ['no owner', 0, { scope: 'loop', owner: '' }],
      ['an owner that is no text', 0, { scope: 'loop', owner: 7 }],
    ])('are not given for %s', async (_, partition, claim) => {
      await refusal(
        log()
          .as('loop')
          .own(partition, claim as { scope: OwnerScope; owner: string }),
        'invalid_event',
      );
    });
  });
}
