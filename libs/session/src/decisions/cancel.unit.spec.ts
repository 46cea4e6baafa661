import { describe, expect, it } from '@jest/globals';
import { pendingApprovals, status } from '../folds/selectors.js';
import { calls, Journal, Runner, says, scripted } from '../testing/index.js';
import type { World } from '../testing/index.js';
import { nextAction } from './next-action.js';
import { decideOutcome } from './outcome.js';
import type { Reply } from './types.js';

function asked(reply: Reply, some: Partial<World> = {}): Runner {
  const runner = new Runner(scripted([reply, says('done')], some), new Journal());
  runner.journal.put('input/queued', { input_id: 'i1', text: 'go', wake: true });
  runner.tick();
  runner.tick();
  return runner;
}

const cancel = (runner: Runner, more: object = {}) =>
  runner.journal.put('turn/cancel_requested', { turn_id: 't0', ...more });
const results = (runner: Runner) => runner.journal.payloads('tool/result').map(({ id, error }) => [id, error]);
const ends = (runner: Runner) => runner.journal.payloads('turn/end');
const NOT_RUN = 'cancelled before execution';

describe('a cancel', () => {
  it('is honoured at the next step boundary: a reply under way is kept, no further request made (CAN-01, CAN-03)', () => {
    const runner = new Runner(scripted([says('late')]));
    runner.journal.put('input/queued', { input_id: 'i1', text: 'go', wake: true });
    runner.tick();
    cancel(runner);
    expect(status(runner.state)).toBe('stopping');
    expect(runner.run().kind).toBe('rest');
    expect(runner.journal.types().slice(-4)).toEqual([
      ...['turn/cancel_requested', 'assistant/message', 'step/end', 'turn/end'],
    ]);
    expect(ends(runner)).toEqual([{ turn_id: 't0', status: 'cancelled' }]);
    expect(status(runner.state)).toBe('idle');
  });

  it.each([[{ reason: 'enough' }], [{}]])('while a tool executes waits for its result (CAN-02) %j', (more) => {
    const runner = asked(calls('1:pay'), { slow: () => true });
    runner.tick();
    cancel(runner, more);
    expect(runner.run().kind).toBe('rest');
    expect(results(runner)).toEqual([['1', null]]);
    expect(runner.journal.payloads('step/start')).toHaveLength(1);
    expect(ends(runner)).toEqual([{ turn_id: 't0', status: 'cancelled', ...more }]);
    runner.journal.put('input/queued', { input_id: 'i2', text: 'next', wake: true });
    runner.run();
    expect(ends(runner).at(-1)).toMatchObject({ status: 'completed' });
  });

  it('keeps calls from starting, each with a result that says so (CAN-07)', () => {
    const runner = asked(calls('1:pay', '2:write'));
    runner.tick();
    cancel(runner);
    runner.run();
    expect(results(runner)).toEqual([
      ['1', null],
      ['2', NOT_RUN],
    ]);
    expect(runner.executed.map(({ name }) => name)).toEqual(['pay']);
  });

  it('lets the group in flight finish, and answers every later call in order (CAN-08)', () => {
    const runner = asked(calls('1:read', '2:search', '3:pay', '4:read'), { slow: () => true });
    runner.tick();
    cancel(runner);
    expect(runner.run().kind).toBe('rest');
    expect(results(runner)).toEqual([
      ['1', null],
      ['2', null],
      ['3', NOT_RUN],
      ['4', NOT_RUN],
    ]);
  });

  it('of a parked turn is logged first, then every standing request is denied, then the calls come back (CAN-10, APR-20, APR-21)', () => {
    const runner = asked(calls('1:ask', '1:ask'));
    runner.run();
    cancel(runner, { reason: 'enough' });
    expect(runner.run().kind).toBe('rest');
    const from = runner.journal.types().indexOf('turn/cancel_requested');
    expect(runner.journal.types().slice(from)).toEqual([
      ...['turn/cancel_requested', 'approval/resolved', 'approval/resolved', 'tool/result', 'tool/result'],
      ...['step/end', 'turn/end'],
    ]);
    expect(runner.journal.payloads('approval/resolved')).toMatchObject([
      { verdict: 'denied', by: 'loop' },
      { verdict: 'denied', by: 'loop' },
    ]);
    expect(pendingApprovals(runner.state)).toEqual([]);
    expect(runner.executed).toEqual([]);
  });

  it('that comes again gives its reason to the end', () => {
    const runner = asked(calls('1:pay'));
    cancel(runner, { reason: 'one' });
    cancel(runner, { reason: 'two' });
    runner.run();
    expect(ends(runner)).toEqual([{ turn_id: 't0', status: 'cancelled', reason: 'two' }]);
  });

  it('that lands between the decision to end and its append wins', () => {
    const runner = asked(says('done'));
    const action = nextAction(runner.state, runner.context());
    cancel(runner);
    expect(action.kind === 'append' && runner.journal.append(action.append)).toBeNull();
    runner.run();
    expect(ends(runner)).toEqual([{ turn_id: 't0', status: 'cancelled' }]);
  });

  it('that is hard waits for nothing: calls in flight are interrupted, their late outcome refused', () => {
    const runner = asked(calls('1:read', '2:pay'), { slow: () => true });
    runner.tick();
    const [callSeq = -1] = runner.running;
    cancel(runner, { hard: true });
    expect(runner.tick().kind).toBe('append');
    expect(results(runner)).toEqual([
      ['1', expect.stringContaining('interrupted')],
      ['2', NOT_RUN],
    ]);
    expect(decideOutcome(runner.state, callSeq, { content: 1, error: null })).toMatchObject({ kind: 'refused' });
    expect(ends(runner)).toMatchObject([{ status: 'cancelled' }]);
  });

  it('that is hard leaves a step without reply unclosed', () => {
    const runner = new Runner(scripted([says('never')]));
    runner.journal.put('input/queued', { input_id: 'i1', text: 'go', wake: true });
    runner.tick();
    cancel(runner, { hard: true });
    runner.tick();
    expect(runner.journal.types().slice(-2)).toEqual(['turn/cancel_requested', 'turn/end']);
  });

  it('of many calls is carried out in several appends, any of which may be cut', () => {
    const many = Array.from({ length: 100 }, (_, index) => `${index}:ask`);
    const runner = asked(calls(...many));
    runner.run();
    cancel(runner);
    runner.tick(7);
    runner.die();
    expect(runner.takeOver()).toBe('resume');
    expect(runner.run().kind).toBe('rest');
    expect(runner.journal.payloads('approval/resolved')).toHaveLength(100);
    expect(results(runner)).toEqual(many.map((_, index) => [String(index), NOT_RUN]));
  });
});

describe('a failure', () => {
  it('answers what the turn owes before it ends it', () => {
    const runner = asked(calls('1:pay', '2:read'), { slow: () => true });
    runner.tick();
    runner.fail('bug');
    expect(results(runner)).toEqual([
      ['1', expect.stringContaining('interrupted')],
      ['2', 'not executed: the turn failed'],
    ]);
    expect(ends(runner)).toEqual([{ turn_id: 't0', status: 'failed', reason: 'bug' }]);
  });

  it('under a standing cancel is where the cancel is honoured', () => {
    const runner = new Runner(scripted([new Error('aborted')]));
    runner.journal.put('input/queued', { input_id: 'i1', text: 'go', wake: true });
    runner.tick();
    cancel(runner, { reason: 'stop' });
    runner.run();
    expect(ends(runner)).toEqual([{ turn_id: 't0', status: 'cancelled', reason: 'stop' }]);
  });
});
