import { describe, expect, it } from '@jest/globals';
import { Journal } from '../testing/index.js';
import { evolve, fold } from './evolve.js';
import * as select from './selectors.js';
import { restore, snapshot, stateDigest } from './snapshot.js';

const user = (journal: Journal, text: string) => journal.put('user/message', { text, input_id: `i-${text}` });

/** A journal with an open turn whose first step has asked for tools. */
function midTurn(journal = new Journal(), turn_id = 't1', names: readonly string[] = ['read']): Journal {
  journal.put('turn/start', { turn_id, agent: 'main', epoch: 1 });
  journal.put('step/start', { n: 1, model: 'test/model', request_digest: 'd' });
  user(journal, 'go');
  const parts = names.map((name, index) => ({ type: 'tool_call' as const, id: `c${index}`, name, args: { index } }));
  journal.put('assistant/message', { parts });
  for (const { id, name, args } of parts) journal.put('tool/call', { id, name, args });
  return journal;
}

function ask(journal: Journal, index = 0): number {
  const call = journal.state.turn?.calls[index];
  if (call?.call_seq == null) throw new Error('no such call');
  const { call_seq, id: call_id, name, args } = call;
  return journal.put('approval/requested', { call_seq, call_id, name, args });
}

describe('history', () => {
  it('has input and steer as user text, assistant and tool entries in log order (PRJ-01)', () => {
    const journal = midTurn();
    const call_seq = journal.events.length - 1;
    journal.put('tool/result', { id: 'c0', call_seq, content: { rows: 2 }, error: null });
    journal.put('step/end', { n: 1 });
    journal.put('step/start', { n: 2, model: 'test/model', request_digest: 'd' });
    journal.put('context/injected', { text: 'faster', input_id: 'i2' });
    journal.put('assistant/message', { parts: [{ type: 'text', text: 'done' }] });
    expect(select.history(journal.state)).toEqual([
      { role: 'user', text: 'go', source: 'user' },
      { role: 'assistant', parts: [{ type: 'tool_call', id: 'c0', name: 'read', args: { index: 0 } }] },
      { role: 'tool', id: 'c0', content: { rows: 2 }, error: null },
      { role: 'user', text: 'faster', source: 'injected' },
      { role: 'assistant', parts: [{ type: 'text', text: 'done' }] },
    ]);
  });

  it('shows neither metadata nor markers nor chunks nor unknown types (PRJ-02, PRJ-03, TTL-01)', () => {
    const journal = midTurn();
    const before = select.history(journal.state);
    const request_seq = ask(journal);
    journal.put('approval/resolved', { call_id: 'c0', request_seq, verdict: 'approved' });
    journal.put('session/titled', { title: 'T' });
    journal.put('policy/updated', { patterns: [] });
    journal.put('assistant/chunk', { text: 'x' });
    journal.putUnknown('future/message', { text: 'hi' });
    expect(select.history(journal.state)).toEqual(before);
  });

  it('replaces everything at or below the boundary by the newest summary, as one leading user message (PRJ-04, PRJ-05, CMP-10, CMP-11)', () => {
    const journal = new Journal();
    user(journal, 'one');
    journal.put('session/compacted', { upto_seq: 1, summary: 'S1' });
    user(journal, 'two');
    expect(select.history(journal.state)).toEqual([
      { role: 'user', text: 'S1', source: 'summary' },
      { role: 'user', text: 'two', source: 'user' },
    ]);
    // The boundary is the event's own seq minus one where the log has not said so.
    journal.put('session/compacted', { summary: 'S2' });
    user(journal, 'three');
    expect(select.history(journal.state)).toEqual([
      { role: 'user', text: 'S2', source: 'summary' },
      { role: 'user', text: 'three', source: 'user' },
    ]);
    expect(journal.state.compaction).toEqual({ seq: 4, upto_seq: 3 });
  });

  it('keeps what came after a boundary that lies further back, behind the summary (PRJ-04)', () => {
    const journal = new Journal();
    user(journal, 'one');
    user(journal, 'two');
    journal.put('session/compacted', { upto_seq: 1, summary: 'S' });
    expect(select.history(journal.state).map((item) => item.role === 'user' && item.text)).toEqual(['S', 'two']);
  });

  it('is the same for a process that loads the log anew, or a snapshot of it (PRJ-08, CMP-20)', () => {
    const journal = midTurn();
    const revived = restore(JSON.parse(JSON.stringify(snapshot(journal.state))));
    expect(revived && select.history(revived)).toEqual(select.history(journal.state));
    expect(select.history(fold(journal.events))).toEqual(select.history(journal.state));
  });
});

describe('a fold', () => {
  it('refuses a snapshot of another version, and what is none', () => {
    const { state } = new Journal();
    expect(restore({ fold_version: 0, state })).toBeNull();
    expect(restore(null)).toBeNull();
    expect(restore('x')).toBeNull();
    expect(stateDigest(restore(snapshot(state)) ?? state)).toBe(stateDigest(state));
  });

  it('takes unknown types and repeated deliveries, and moves its position only', () => {
    const journal = midTurn();
    const before = journal.state;
    const seq = journal.putUnknown('future/thing', { turn_id: 't1' });
    expect(journal.state).toEqual({ ...before, last_seq: seq, last_fact_seq: seq, last_fact_id: `e${seq}` });
    expect(evolve(journal.state, { ...journal.events[2], payload: {} } as never)).toBe(journal.state);
  });

  it('does not count chunks as facts, and does not miss those that expired', () => {
    const journal = midTurn();
    const fact = select.lastFactSeq(journal.state);
    journal.put('assistant/chunk', { text: 'a' });
    journal.put('assistant/chunk', { text: 'b' });
    expect([select.lastSeq(journal.state), select.lastFactSeq(journal.state)]).toEqual([fact + 2, fact]);
    journal.put('session/titled', { title: 'T' });
    const facts = journal.events.filter(({ type }) => type !== 'assistant/chunk');
    expect(stateDigest(fold(facts))).toBe(stateDigest(journal.state));
  });

  it('folds copied events like others; what was queued in the parent is no stimulus in the fork (LOG-15)', () => {
    const journal = new Journal();
    const queue = (input_id: string, grant?: { agent_turn_id: string; generation: number }) =>
      journal.put('input/queued', { input_id, text: 'x', wake: true, ...(grant && { grant }) }, { copied: true });
    queue('i1');
    queue('i2', { agent_turn_id: 'g', generation: 1 });
    journal.put('user/message', { text: 'old', input_id: 'i0' }, { copied: true });
    expect(select.startableInput(journal.state)?.input_id).toBe('i1');
    journal.put('session/forked', { from: 'parent', boundary: 3 });
    expect(select.history(journal.state)).toHaveLength(1);
    expect(select.inbox(journal.state)).toMatchObject([{ input_id: 'i1', wake: false }]);
    expect(select.startableInput(journal.state)).toBeUndefined();
    expect(journal.state.parent_id).toBe('parent');
  });

  it('knows an append that is stored only in part', () => {
    const journal = new Journal();
    const append = {
      events: [
        { type: 'turn/start' as const, payload: { turn_id: 't', agent: 'a', epoch: 1 } },
        { type: 'turn/end' as const, payload: { turn_id: 't', status: 'empty' } },
      ],
      expect: { seq: 0, none_of: [] },
    };
    journal.append(append, 1);
    expect(select.incompleteBatch(journal.state)).toEqual({ id: 'b0', index: 0, count: 2 });
    journal.put('assistant/chunk', { text: 'x' });
    expect(select.incompleteBatch(journal.state)).not.toBeNull();
    journal.put('turn/end', { turn_id: 't', status: 'empty' });
    expect(select.incompleteBatch(journal.state)).toBeNull();
  });

  it('costs no more at the end of a long session than at its beginning', () => {
    const journal = new Journal();
    for (let count = 0; count < 5000; count++) user(journal, String(count));
    const { root } = journal.state.history.entries;
    user(journal, 'last');
    const copied = journal.state.history.entries.root.filter((node, index) => node !== root[index]);
    expect(copied.length).toBeLessThanOrEqual(1);
  });
});

describe('status', () => {
  it('is idle, running, waiting_approval, running, stopping, idle as the turn goes (TRN-01, APR-05, CAN-03)', () => {
    const journal = new Journal();
    const seen = [select.status(journal.state)];
    const look = () => seen.push(select.status(journal.state));
    midTurn(journal);
    look();
    const request_seq = ask(journal);
    look();
    journal.put('approval/resolved', { call_id: 'c0', request_seq, verdict: 'approved' });
    look();
    journal.put('turn/cancel_requested', { turn_id: 'other' });
    look();
    journal.put('turn/cancel_requested', { turn_id: 't1' });
    look();
    journal.put('turn/end', { turn_id: 't1', status: 'cancelled' });
    look();
    expect(seen).toEqual(['idle', 'running', 'waiting_approval', 'running', 'running', 'stopping', 'idle']);
  });

  it('is stalled from turn/stalled to turn/resumed, and stopping before anything else', () => {
    const journal = midTurn();
    ask(journal);
    journal.put('turn/stalled', { turn_id: 't1', epoch: 1, reason: 'r' });
    expect(select.status(journal.state)).toBe('stalled');
    journal.put('turn/resumed', { turn_id: 't1', epoch: 2, cause: 'wake' });
    expect(select.status(journal.state)).toBe('waiting_approval');
    journal.put('turn/stalled', { turn_id: 't1', epoch: 2, reason: 'r' });
    journal.put('turn/cancel_requested', { turn_id: 't1', hard: true, reason: 'first' });
    expect(select.status(journal.state)).toBe('stopping');
    journal.put('turn/cancel_requested', { turn_id: 't1', reason: 'second' });
    expect(journal.state.turn?.cancel).toMatchObject({ reason: 'second', hard: true });
  });
});

describe('pending approvals', () => {
  it('are the requests of the open turn without a verdict (APR-09, APR-10, APR-11, APR-23)', () => {
    const journal = midTurn(new Journal(), 't1', ['ask', 'ask']);
    const [first, second] = [ask(journal, 0), ask(journal, 1)];
    const pending = () => select.pendingApprovals(journal.state).map((approval) => approval.request_seq);
    expect(pending()).toEqual([first, second]);
    journal.put('approval/resolved', { call_id: 'c0', request_seq: first, verdict: 'denied', reason: 'no' });
    expect(pending()).toEqual([second]);
    expect(select.status(journal.state)).toBe('waiting_approval');
    journal.put('turn/end', { turn_id: 't1', status: 'failed' });
    expect(pending()).toEqual([]);
    midTurn(journal, 't2', ['ask']);
    const third = ask(journal);
    expect(pending()).toEqual([third]);
  });

  it('are not settled by a verdict before its request, of another id, of a closed turn, or twice (APR-12, APR-15)', () => {
    const journal = midTurn();
    const next = journal.events.length + 1;
    journal.put('approval/resolved', { call_id: 'c0', request_seq: next, verdict: 'approved' });
    const request_seq = ask(journal);
    expect(request_seq).toBe(next);
    journal.put('approval/resolved', { call_id: 'c9', request_seq, verdict: 'approved' });
    expect(select.pendingApprovals(journal.state)).toHaveLength(1);
    journal.put('approval/resolved', { call_id: 'c0', request_seq, verdict: 'denied' });
    journal.put('approval/resolved', { call_id: 'c0', request_seq, verdict: 'approved' });
    expect(journal.state.turn?.approvals[0]?.verdict?.verdict).toBe('denied');
  });

  it('with one call id are told apart by request; the oldest stands (APR-24)', () => {
    const journal = midTurn(new Journal(), 't1', ['ask']);
    journal.put('tool/call', { id: 'c0', name: 'ask', args: { index: 0 } });
    const [first, second] = [ask(journal, 0), ask(journal, 1)];
    expect(select.standingRequest(journal.state, 'c0')?.request_seq).toBe(first);
    journal.put('approval/resolved', { call_id: 'c0', request_seq: first, verdict: 'approved' });
    expect(select.standingRequest(journal.state, 'c0')?.request_seq).toBe(second);
    expect(select.standingRequest(journal.state, 'c1')).toBeUndefined();
  });
});

describe('an erasure', () => {
  it('leaves no text', () => {
    const journal = midTurn();
    journal.put('session/titled', { title: 'secret' });
    journal.put('session/erased', { head: journal.events.length - 1 });
    expect(select.history(journal.state)).toEqual([]);
    expect([select.status(journal.state), select.title(journal.state), journal.state.erased]).toEqual([
      'idle',
      null,
      true,
    ]);
  });
});
