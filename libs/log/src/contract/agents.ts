import { describe, expect, it } from '@jest/globals';
import { FLEET_ID, PARTITION_ID } from '@longrein/events';
import type { NewEvent } from '../port/index.js';
import { type LogHarness, useLog } from './harness.js';
import {
  appendOf,
  freshId,
  freshIdIn,
  identified,
  input,
  readAll,
  refusal,
  seqs,
  take,
  takeUntil,
  upTo,
} from './kit.js';

function admitted(agent_id: string): NewEvent {
  return { type: 'agent/admitted', payload: { agent_id, session_id: 's1', generation: 1 } };
}

function disposed(): NewEvent {
  return { type: 'agent/disposed', payload: { generation: 1 } };
}

/** Streams of kind `agents`: the same log over other streams. */
export function describeAgents(harness: LogHarness): void {
  describe('agents', () => {
    const log = useLog(harness);
    const registry = () => log().as('registry', 'agents');

    it('have streams of their own, beside a session of the same id', async () => {
      const id = freshId();
      expect(await registry().create(id)).toEqual({ created: true, last_seq: 0 });
      expect(await registry().create(id)).toEqual({ created: false, last_seq: 0 });
      await refusal(log().as('gateway').read(id, { from_seq: 0 }), 'unknown_session');
      await registry().append(id, appendOf(identified(disposed(), 'e1')));
      const [created, event] = await readAll(registry(), id);
      expect(created).toMatchObject({ agent_id: id, seq: 0, type: 'agent/created' });
      expect(event).toStrictEqual({
        id: 'e1',
        agent_id: id,
        seq: 1,
        at: expect.any(String),
        type: 'agent/disposed',
        payload: { generation: 1 },
        v: 1,
      });
    });

    it('keep the rules: conditions, retries, vocabulary, permissions', async () => {
      const id = freshId();
      await registry().create(id);
      const request = { events: [identified(disposed())], expect: { seq: 0 }, since: 0 };
      const first = await registry().append(id, request);
      expect(await registry().append(id, request)).toEqual(first);
      await refusal(registry().append(id, { events: [disposed()], expect: { seq: 0 }, since: 0 }), 'conflict');
      await refusal(registry().append(id, appendOf(input())), 'invalid_event');
      await refusal(log().as('gateway', 'agents').append(id, appendOf(disposed())), 'invalid_event');
      await refusal(registry().append(freshId(), appendOf(disposed())), 'unknown_session');
      await refusal(registry().create('a.b'), 'invalid_event');
      await refusal(registry().create(PARTITION_ID), 'invalid_event');
      await refusal(registry().fork({ from: id, to: freshId() }), 'invalid_event');
      expect(seqs(await readAll(registry(), id))).toEqual([0, 1]);
    });

    it('are admitted to the fleet, whose stream lives in partition 0', async () => {
      await registry().create(FLEET_ID);
      const outcomes = await Promise.allSettled(
        upTo(5).map((i) => registry().append(FLEET_ID, { events: [admitted(`a${i}`)], expect: { seq: 0 }, since: 0 })),
      );
      expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1);
      const consumed = registry().consume({ partition: 0, select: { family: 'machine' } });
      const deliveries = await takeUntil(consumed, (delivery) => delivery.kind === 'caught_up');
      const fleet = deliveries.flatMap((delivery) =>
        delivery.kind === 'event' && delivery.event.agent_id === FLEET_ID ? [delivery.event] : [],
      );
      expect(fleet).toEqual(await readAll(registry(), FLEET_ID));
      expect(fleet.map((event) => event.type)).toEqual(['agent/created', 'agent/admitted']);
      expect(seqs(await take(registry().follow(FLEET_ID, { from_seq: 1 }), 1))).toEqual([1]);
    });

    it('are fenced apart from sessions', async () => {
      const id = freshIdIn(2, log().partitions);
      await registry().create(id);
      await log().as('registry').create(id);
      const { epoch } = await registry().own(2, { scope: 'registry', owner: 'replica-a' });
      const { details } = await refusal(registry().append(id, appendOf(disposed())), 'fenced');
      expect(details.epoch).toBe(epoch);
      expect(await registry().append(id, { ...appendOf(disposed()), epoch })).toMatchObject({ seq: 1 });
      expect(await log().as('registry').append(id, appendOf(input()))).toMatchObject({ seq: 1 });
    });
  });
}
