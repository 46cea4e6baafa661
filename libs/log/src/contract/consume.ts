import { describe, expect, it } from '@jest/globals';
import { type EventEnvelope, PARTITION_ID } from '@longrein/events';
import { type Checkpoint, type ConsumeOptions, type Delivery, CheckpointMismatch } from '../port/index.js';
import { type LogHarness, useLog } from './harness.js';
import {
  appendEach,
  appendOf,
  cancel,
  chunk,
  freshIdIn,
  input,
  itCan,
  newSession,
  readAll,
  refusal,
  select,
  seqs,
  takeUntil,
  turnEnd,
  upTo,
} from './kit.js';

type Received = Extract<Delivery, { kind: 'event' }>;

/** Ordered consumption of partitions. */
export function describeConsume(harness: LogHarness): void {
  describe('consume', () => {
    const log = useLog(harness, { partitions: 16 });
    let used = 0;

    /** A partition no other test writes to. */
    const partition = () => used++;
    const sessionIn = (p: number) => newSession(log(), freshIdIn(p, log().partitions));

    /** What is stored now, of sessions only. */
    async function stored(options: ConsumeOptions): Promise<Received[]> {
      const all = await takeUntil(log().as('titler').consume(options), (delivery) => delivery.kind === 'caught_up');
      return all.filter((delivery): delivery is Received => delivery.kind === 'event' && !isControl(delivery.event));
    }

    it('delivers what is stored, then says so once, then what comes', async () => {
      const p = partition();
      const id = await sessionIn(p);
      await appendEach(log().as('gateway'), id, [input(), select()]);
      const seen: unknown[] = [];
      for await (const delivery of log().as('titler').consume({ partition: p, select: 'all' })) {
        if (delivery.kind === 'event' && isControl(delivery.event)) continue;
        seen.push(delivery.kind === 'event' ? delivery.event.seq : delivery.kind);
        if (seen.length === 7) break;
        if (seen.includes('caught_up')) await log().as('gateway').append(id, appendOf(input()));
      }
      expect(seen).toEqual([0, 1, 2, 'caught_up', 3, 4, 5]);
    });

    it('catches up at once on an empty partition', async () => {
      const p = partition();
      for (const what of ['all', 'facts', { family: 'turn' }] as const) {
        expect(await stored({ partition: p, select: what })).toEqual([]);
      }
    });

    it('delivers only the family, or the facts, that were asked for', async () => {
      const p = partition();
      const id = await sessionIn(p);
      await appendEach(log().as('gateway'), id, [input(), select(), cancel()]);
      await appendEach(log().as('worker'), id, [chunk(), turnEnd()]);
      const typesOf = async (what: ConsumeOptions['select']) =>
        (await stored({ partition: p, select: what })).map(({ event }) => event.type);
      const all = await readAll(log().as('gateway'), id);
      expect(await typesOf('all')).toEqual(all.map((event) => event.type));
      expect(await typesOf('facts')).toEqual(
        all.map((event) => event.type).filter((type) => type !== 'assistant/chunk'),
      );
      expect(await typesOf({ family: 'input' })).toEqual(['input/queued', 'turn/cancel_requested']);
      expect(await typesOf({ family: 'session' })).toEqual(['session/created', 'session/model_selected']);
      expect(await typesOf({ family: 'approval' })).toEqual([]);
    });

    it('catches up when the last stored event is none that was asked for', async () => {
      const p = partition();
      const id = await sessionIn(p);
      await appendEach(log().as('worker'), id, [turnEnd(), chunk()]);
      expect((await stored({ partition: p, select: { family: 'turn' } })).map(({ event }) => event.seq)).toEqual([1]);
      expect((await stored({ partition: p, select: 'facts' })).map(({ event }) => event.seq)).toEqual([0, 1]);
    });

    it('delivers every session of the partition in the order of the log (LOG-03)', async () => {
      const p = partition();
      const ids = await Promise.all(upTo(5).map(() => sessionIn(p)));
      await Promise.all(
        upTo(60).map((i) =>
          log()
            .as('gateway')
            .append(ids[i % 5]!, appendOf(input(), select())),
        ),
      );
      const events = (await stored({ partition: p, select: 'all' })).map(({ event }) => event);
      for (const id of ids) {
        expect(events.filter((event) => event.session_id === id)).toEqual(await readAll(log().as('gateway'), id));
      }
      const again = (await stored({ partition: p, select: 'facts' })).map(({ event }) => event);
      expect(again).toEqual(events);
    });

    it('delivers what was appended in reaction after what caused it, to everyone, once (LOG-03, LOG-04, LOG-05)', async () => {
      const p = partition();
      const id = await sessionIn(p);
      const stop = new AbortController();
      const done = (events: EventEnvelope[]) => events.some((event) => event.type === 'session/compaction_declined');
      const reacts = async (service: 'titler' | 'compactor', to: string, type: string, payload: unknown) => {
        for await (const delivery of log()
          .as(service)
          .consume({ partition: p, select: 'facts', signal: stop.signal })) {
          if (delivery.kind === 'event' && delivery.event.type === to) {
            const { seq } = delivery.event;
            const answer = await log()
              .as(service)
              .append(id, { events: [{ type, payload }], since: seq });
            expect(answer.seq).toBeGreaterThan(seq);
          }
        }
      };
      const observes = async () => {
        const events: EventEnvelope[] = [];
        for await (const delivery of log().as('policy').consume({ partition: p, select: 'facts' })) {
          if (delivery.kind === 'event' && delivery.event.session_id === id) events.push(delivery.event);
          if (done(events)) break;
        }
        return events;
      };
      const observer = observes();
      const reacting = [
        reacts('titler', 'turn/end', 'session/titled', { title: 'A title' }),
        reacts('compactor', 'session/titled', 'session/compaction_declined', { reason: 'short' }),
      ];
      const late = observes();
      await log().as('worker').append(id, appendOf(turnEnd()));
      for (const events of await Promise.all([observer, late])) {
        expect(events.map((event) => event.type)).toEqual([
          'session/created',
          'turn/end',
          'session/titled',
          'session/compaction_declined',
        ]);
        expect(seqs(events)).toEqual(upTo(4));
      }
      stop.abort();
      await Promise.all(reacting);
    });

    it('is not stopped by a consumer that fails, nor held up by one that does not read (LOG-06)', async () => {
      const p = partition();
      const id = await sessionIn(p);
      const idle = log().as('titler').consume({ partition: p, select: 'all' })[Symbol.asyncIterator]();
      await idle.next();
      const failing = (async () => {
        for await (const delivery of log()
          .as('policy')
          .consume({ partition: p, select: { family: 'input' } })) {
          if (delivery.kind === 'event') throw new Error('this consumer is broken');
        }
      })();
      const fails = expect(failing).rejects.toThrow('this consumer is broken');
      const working = takeUntil(
        log().as('titler').consume({ partition: p, select: 'facts' }),
        (delivery) => delivery.kind === 'event' && delivery.event.session_id === id && delivery.event.seq === 20,
      );
      for (let seq = 1; seq <= 20; seq++) {
        expect(await log().as('gateway').append(id, appendOf(input()))).toMatchObject({ seq });
      }
      await fails;
      expect(sessionEvents(await working, id)).toEqual(await readAll(log().as('gateway'), id));
      await idle.return?.();
    });

    it('goes on after any checkpoint', async () => {
      const p = partition();
      const ids = [await sessionIn(p), await sessionIn(p)];
      for (const id of [...ids, ...ids]) {
        await log().as('gateway').append(id, appendOf(input(), select()));
        await log().as('worker').append(id, appendOf(chunk(), chunk()));
      }
      const facts = await stored({ partition: p, select: 'facts' });
      for (const [i, { checkpoint }] of facts.entries()) {
        const rest = await stored({ partition: p, select: 'facts', after: checkpoint });
        expect(rest).toEqual(facts.slice(i + 1));
      }
      const all = await stored({ partition: p, select: 'all' });
      for (const [i, { checkpoint, event }] of all.entries()) {
        const rest = await stored({ partition: p, select: 'all', after: checkpoint });
        expect(rest).toEqual(all.slice(all.length - rest.length));
        // Behind a chunk, which may have expired, consumption may begin again at the fact before it: at least once.
        if (event.type !== 'assistant/chunk') expect(rest).toHaveLength(all.length - i - 1);
        else expect(rest.length).toBeGreaterThanOrEqual(all.length - i - 1);
      }
    });

    it('lets a checkpoint of one selection be used with another', async () => {
      const p = partition();
      const id = await sessionIn(p);
      await appendEach(log().as('gateway'), id, [input(), select(), input(), select()]);
      const inputs = await stored({ partition: p, select: { family: 'input' } });
      const rest = await stored({ partition: p, select: 'facts', after: inputs[0]!.checkpoint });
      expect(rest.map(({ event }) => event.seq)).toEqual([2, 3, 4]);
    });

    itCan(harness, 'restartOwner')(
      'goes on across a change of owner, and after it from an older checkpoint',
      async () => {
        const p = partition();
        const id = await sessionIn(p);
        await appendEach(log().as('gateway'), id, [input()]);
        const before = await stored({ partition: p, select: 'facts' });
        const live = takeUntil(
          log().as('titler').consume({ partition: p, select: 'facts' }),
          (delivery) => delivery.kind === 'event' && delivery.event.session_id === id && delivery.event.seq === 3,
        );
        await log().restartOwner!();
        await appendEach(log().as('gateway'), id, [input(), input()]);
        const rest = await stored({ partition: p, select: 'facts', after: before.at(-1)!.checkpoint });
        expect(rest.map(({ event }) => event.seq)).toEqual([2, 3]);
        expect(seqs(sessionEvents(await live, id))).toEqual(upTo(4));
      },
    );

    it('stops where the stream does not hold what the checkpoint says', async () => {
      const p = partition();
      const id = await sessionIn(p);
      await appendEach(log().as('gateway'), id, [input(), input()]);
      const { checkpoint } = (await stored({ partition: p, select: 'facts' })).at(-1)!;
      const wrong: Record<string, Checkpoint> = {
        'another event': { ...checkpoint, event_id: 'somebody-else' },
        'the event, written again in another term': { ...checkpoint, incarnation: 'another-term' },
        'nothing so far': { ...checkpoint, sequence: checkpoint.sequence + 1000 },
        'the event before': { ...checkpoint, sequence: checkpoint.sequence - 1 },
      };
      for (const [what, after] of Object.entries(wrong)) {
        const error = await stored({ partition: p, select: 'facts', after }).catch((thrown: unknown) => thrown);
        expect([what, error]).toEqual([what, expect.any(CheckpointMismatch)]);
        expect(error).toMatchObject({ checkpoint: after });
      }
      expect(await stored({ partition: p, select: 'facts', after: checkpoint })).toEqual([]);
    });

    it('ends when the signal aborts, also while it waits', async () => {
      const stop = new AbortController();
      const options = { partition: partition(), select: { family: 'turn' }, signal: stop.signal } as const;
      const consumed = log().as('titler').consume(options)[Symbol.asyncIterator]();
      expect((await consumed.next()).value).toEqual({ kind: 'caught_up' });
      const waiting = consumed.next();
      stop.abort();
      expect(await waiting).toEqual({ done: true, value: undefined });
    });

    it.each([-1, 16, 0.5])('refuses partition %d', async (number) => {
      const consumed = log().as('titler').consume({ partition: number, select: 'all' });
      await refusal(consumed[Symbol.asyncIterator]().next(), 'invalid_event');
    });
  });
}

function isControl(event: EventEnvelope): boolean {
  return event.session_id === PARTITION_ID;
}

function sessionEvents(deliveries: readonly Delivery[], id: string): EventEnvelope[] {
  return deliveries.flatMap((delivery) =>
    delivery.kind === 'event' && delivery.event.session_id === id ? [delivery.event] : [],
  );
}
