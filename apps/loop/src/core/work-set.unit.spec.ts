import { describe, expect, it } from '@jest/globals';
import type { EventEnvelope } from '@longrein/events';
import { WorkSet } from './work-set.js';

let seq = 0;

function fact(type: string, payload: object, session_id = 's', more: Partial<EventEnvelope> = {}): EventEnvelope {
  return { id: `e${++seq}`, session_id, seq, at: '', type, payload, v: 1, ...more };
}

function setOf(...facts: EventEnvelope[]): WorkSet {
  const set = new WorkSet();
  for (const each of facts) set.apply(each);
  return set;
}

const queued = (input_id: string, more: object = { wake: true }) =>
  fact('input/queued', { input_id, text: 't', ...more });
const started = (input_id: string) => fact('turn/start', { turn_id: 't', agent: 'a', input_id, epoch: 1 });
const ended = () => fact('turn/end', { turn_id: 't', status: 'completed' });

describe('the work set of a partition', () => {
  it('holds a session from its first waking input to the end of its turn', () => {
    const set = setOf(queued('i'));
    expect([...set.actionable()]).toEqual(['s']);
    set.apply(started('i'));
    set.apply(fact('user/message', { input_id: 'i', text: 't' }));
    expect([...set.actionable()]).toEqual(['s']);
    set.apply(ended());
    expect(set.size).toBe(0);
  });

  it('keeps a session with only a steer, but nothing has to be done about it', () => {
    const set = setOf(queued('i', { wake: false }));
    expect(set.size).toBe(1);
    expect([...set.actionable()]).toEqual([]);
  });

  it('the end of a turn consumes its input although no message carried it', () => {
    expect(setOf(queued('i'), started('i'), ended()).size).toBe(0);
  });

  it('a grant starts a turn, and its message consumes the input that it promotes', () => {
    const grant = { agent_turn_id: 't', generation: 1, promotes: 'i' };
    const set = setOf(queued('i', { wake: false }), queued('g', { wake: false, grant }));
    expect([...set.actionable()]).toEqual(['s']);
    set.apply(started('g'));
    set.apply(fact('user/message', { input_id: 'g', text: 't' }));
    set.apply(ended());
    expect(set.size).toBe(0);
  });

  it('folds facts again without harm, ignores what a fork copied, and types it does not know', () => {
    const input = queued('i');
    const set = setOf(
      input,
      input,
      fact('from/the-future', {}),
      fact('input/queued', { input_id: 'c', wake: true }, 'child', { copied: true }),
    );
    expect([...set.actionable()]).toEqual(['s']);
    set.apply(fact('context/injected', { input_id: 'i', text: 't' }));
    expect(set.size).toBe(0);
  });

  it('survives a round trip, and is rebuilt where another version wrote it', () => {
    const set = setOf(queued('i'), fact('turn/start', { turn_id: 't', epoch: 1 }, 'other'));
    const saved: unknown = JSON.parse(JSON.stringify(set));
    expect([...(WorkSet.restore(saved)?.actionable() ?? [])]).toEqual(['s', 'other']);
    expect(WorkSet.restore({ ...(saved as object), version: 0 })).toBeUndefined();
    expect(WorkSet.restore(undefined)).toBeUndefined();
  });

  it('a quarantine makes nothing actionable until it is lifted, also in a set that was saved in between', () => {
    const set = setOf(fact('session/quarantined', {}), queued('i'), fact('turn/start', { turn_id: 't', epoch: 1 }));
    const restored = WorkSet.restore(JSON.parse(JSON.stringify(set)))!;
    expect([[...restored.actionable()], restored.isQuarantined('s')]).toEqual([[], true]);
    restored.apply(fact('session/quarantine_lifted', {}));
    expect([[...restored.actionable()], restored.isQuarantined('s')]).toEqual([['s'], false]);
  });

  it('a quarantine is remembered of a session with nothing to do, and forgotten with its end', () => {
    const set = setOf(fact('session/quarantined', {}), fact('session/erased', { head: 0 }));
    expect([set.size, set.isQuarantined('s')]).toEqual([1, true]);
    set.apply(fact('session/quarantine_lifted', {}));
    expect(set.size).toBe(0);
  });
});
