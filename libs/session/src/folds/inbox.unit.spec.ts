import { describe, expect, it } from '@jest/globals';
import { Journal } from '../testing/index.js';
import * as select from './selectors.js';

describe('inbox', () => {
  const queue = (journal: Journal, input_id: string, more: object = {}) =>
    journal.put('input/queued', { input_id, text: input_id, wake: true, ...more });
  const ids = (journal: Journal) => select.inbox(journal.state).map((input) => input.input_id);

  it('loses an input to the message that names it, once, whatever is queued twice (INJ-01)', () => {
    const journal = new Journal();
    for (const id of ['a', 'b', 'a', 'c']) queue(journal, id);
    expect(ids(journal)).toEqual(['a', 'b', 'c']);
    journal.put('user/message', { text: 'b', input_id: 'b' });
    journal.put('context/injected', { text: 'c', input_id: 'c' });
    expect(ids(journal)).toEqual(['a']);
    expect(select.status(journal.state)).toBe('idle');
  });

  it.each(['rejected', 'failed', 'cancelled'] as const)(
    'loses the waking input, and no steer, to turn/end %s (TRN-07)',
    (status) => {
      const journal = new Journal();
      queue(journal, 'a');
      queue(journal, 'b');
      journal.put('turn/start', { turn_id: 't', agent: 'm', input_id: 'a', epoch: 1 });
      expect(ids(journal)).toEqual(['a', 'b']);
      journal.put('turn/end', { turn_id: 't', status });
      expect(ids(journal)).toEqual(['b']);
    },
  );

  it('loses two inputs to the message of one that promotes the other', () => {
    const journal = new Journal();
    queue(journal, 'a');
    queue(journal, 'g', { grant: { agent_turn_id: 'g', generation: 1, promotes: 'a' } });
    expect(select.startableInput(journal.state)?.input_id).toBe('g');
    journal.put('user/message', { text: 'a', input_id: 'g' });
    expect(ids(journal)).toEqual([]);
  });

  it('starts turns by waking inputs in a session of nobody, by granted ones in a session of an agent', () => {
    const journal = new Journal();
    queue(journal, 'a', { wake: false });
    expect(select.startableInput(journal.state)).toBeUndefined();
    expect(select.inWork(journal.state)).toBe(false);
    queue(journal, 'b');
    expect(select.startableInput(journal.state)?.input_id).toBe('b');
    journal.put('session/configured', { agent_id: 'a1', generation: 1, spec: {} });
    expect(select.startableInput(journal.state)).toBeUndefined();
    queue(journal, 'g', { grant: { agent_turn_id: 'g', generation: 1 } });
    expect(select.startableInput(journal.state)?.input_id).toBe('g');
    expect(select.inWork(journal.state)).toBe(true);
  });
});
