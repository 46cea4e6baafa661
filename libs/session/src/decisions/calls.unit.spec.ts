import { describe, expect, it } from '@jest/globals';
import { pendingApprovals, status } from '../folds/selectors.js';
import { calls, Journal, Runner, says, scripted, traitsOf } from '../testing/index.js';
import type { World } from '../testing/index.js';
import { decideCall } from './call.js';
import { decideOutcome } from './outcome.js';
import { decideReply } from './reply.js';
import type { Reply, ToolTraits, TurnContext } from './types.js';

/** A runner in the middle of its first step, its calls not decided yet. */
function asked(reply: Reply, overrides: Partial<TurnContext> = {}, some: Partial<World> = {}): Runner {
  const runner = new Runner(scripted([reply, says('done')], some), new Journal(), overrides);
  runner.journal.put('input/queued', { input_id: 'i1', text: 'go', wake: true });
  runner.tick();
  runner.tick();
  return runner;
}

const tools = (traits: Record<string, Partial<ToolTraits>>) => (name: string) => traits[name] && traitsOf(traits[name]);
const errors = (runner: Runner) => runner.journal.payloads('tool/result').map((result) => result.error);
const decide = (runner: Runner, index = 0, options = {}) =>
  decideCall(runner.state, callSeq(runner, index), runner.context(), options);
const callSeq = (runner: Runner, index = 0) => runner.state.turn?.calls[index]?.call_seq ?? -1;

function verdict(runner: Runner, said: 'approved' | 'denied', more: object = {}, index = 0): void {
  const { call_id, request_seq } = pendingApprovals(runner.state)[index] ?? { call_id: 'none', request_seq: -1 };
  runner.journal.put('approval/resolved', { call_id, request_seq, verdict: said, ...more });
}

describe('calls of one message', () => {
  it('to parallel tools are in flight together, to others alone (TLP-10, TLP-11, TLP-12)', () => {
    const reply = calls('1:read', '2:search', '3:pay', '4:read', '5:search');
    const runner = asked(reply, {}, { slow: () => true });
    const groups: number[][] = [];
    for (let count = 0; count < 20 && runner.state.turn?.step?.n === 1; count++) {
      const action = runner.tick();
      if (action.kind === 'calls') groups.push(action.calls.map((call) => Number(call.id)));
    }
    expect(groups).toEqual([[1, 2], [3], [4, 5]]);
  });

  it('have their results in call order, whichever finished first (TLP-14)', () => {
    const runner = asked(calls('1:read', '2:search', '3:read'), {}, { slow: () => true });
    runner.tick();
    const come = (index: number) => {
      const decision = decideOutcome(runner.state, callSeq(runner, index), { content: index, error: null });
      if (decision.kind !== 'append') throw new Error(decision.message);
      runner.journal.append(decision.append);
      runner.running.delete(callSeq(runner, index));
    };
    come(2);
    come(1);
    expect(runner.journal.payloads('tool/result')).toEqual([]);
    come(0);
    runner.run();
    expect(runner.journal.payloads('tool/finished').map(({ content }) => content)).toEqual([2, 1]);
    expect(runner.journal.payloads('tool/result').map(({ id, content }) => [id, content])).toEqual([
      ['1', 0],
      ['2', 1],
      ['3', 2],
    ]);
    expect(decideOutcome(runner.state, 5, { content: 1, error: null })).toMatchObject({ code: 'nothing_open' });
  });

  it('get one result each, a tool’s failure or an unstorable result included (TLP-16)', () => {
    const outcome = (name: string) => (name === 'search' ? { content: NaN, error: null } : { content: 1, error: null });
    const runner = asked(calls('1:read', '2:search', '3:read'), {}, { outcome });
    runner.run();
    expect(errors(runner)).toEqual([null, expect.stringContaining('cannot be stored'), null]);
    expect(runner.journal.payloads('turn/end')).toMatchObject([{ status: 'completed' }]);
  });

  it('to a tool that is not registered get an error result, and the turn goes on (TLP-04)', () => {
    const runner = asked(calls('1:nope'));
    runner.run();
    expect(errors(runner)).toEqual(['tool "nope": not registered']);
    expect(runner.executed).toEqual([]);
    expect(runner.journal.payloads('turn/end')).toMatchObject([{ status: 'completed' }]);
  });

  it('of which one append holds only some are all logged and answered, also when it was cut', () => {
    const many = Array.from({ length: 150 }, (_, index) => `${index}:read`);
    const runner = asked(calls(...many));
    expect(runner.journal.payloads('tool/call').length).toBeLessThan(150);
    runner.run();
    expect(runner.journal.payloads('tool/call').map(({ id }) => id)).toEqual(many.map((_, index) => String(index)));
    expect(runner.journal.payloads('tool/result')).toHaveLength(150);
  });

  it('are started under the condition that decides policy, configuration, cancel and verdict', () => {
    const runner = asked(calls('1:read'));
    const decision = decide(runner);
    expect(decision.kind === 'start' && decision.append).toEqual({
      events: [{ type: 'tool/started', payload: { call_seq: callSeq(runner), call_id: '1', attempt: 1, epoch: 1 } }],
      expect: {
        seq: runner.state.last_seq,
        none_of: [
          ...['policy/updated', 'session/configured', 'turn/cancel_requested', 'approval/resolved'],
          'session/quarantined',
        ],
      },
    });
  });

  it('come only from a step that waits for a reply', () => {
    const runner = asked(calls('1:read'));
    expect(decideReply(runner.state, says('again'))).toMatchObject({ code: 'not_expected' });
    expect(decideCall(runner.state, 0, runner.context())).toMatchObject({ code: 'unknown_call' });
  });
});

describe('the policy', () => {
  const floor = (policy: string[]) => ({ deployment: { models: { main: 'test/model' }, policy } });

  it.each([
    ['no list at all', undefined, undefined, true],
    ['a floor without the tool (POL-01)', ['search'], undefined, false],
    ['a floor with a matching glob (POL-02, POL-03)', ['re*'], undefined, true],
    ['an update that admits what the floor denies (POL-04)', ['search'], ['read'], true],
    ['an update that drops what the floor admits (POL-05, POL-08)', ['*'], ['search'], false],
    ['an update to nothing (POL-13)', ['*'], [], false],
    ['a name that differs in case', ['READ'], undefined, false],
  ])('decides by %s', (_, boot, update, allowed) => {
    const runner = asked(calls('1:read'), boot && floor(boot));
    if (update) runner.journal.put('policy/updated', { patterns: update });
    runner.run();
    expect(runner.executed.length).toBe(allowed ? 1 : 0);
    expect(errors(runner)).toEqual([allowed ? null : expect.stringContaining('not allowed by the policy')]);
    expect(runner.journal.payloads('turn/end')).toMatchObject([{ status: 'completed' }]);
  });

  it('that landed between two calls of one turn governs the second, the last one alone (POL-06, POL-07)', () => {
    const runner = asked(calls('1:read', '2:pay'));
    runner.tick();
    runner.journal.put('policy/updated', { patterns: ['*'] });
    runner.journal.put('policy/updated', { patterns: ['read'] });
    runner.run();
    expect(errors(runner)).toEqual([null, expect.stringContaining('policy')]);
  });

  it('that changes between decision and append makes the append fail', () => {
    const runner = asked(calls('1:read'));
    const decision = decide(runner);
    runner.journal.put('policy/updated', { patterns: [] });
    expect('append' in decision && runner.journal.append(decision.append)).toBeNull();
    expect(decide(runner).kind).toBe('answer');
  });

  it('vetoes before anyone is asked (APR-03)', () => {
    const runner = asked(calls('1:ask'), floor(['read']));
    runner.run();
    expect(runner.journal.types()).not.toContain('approval/requested');
    expect(errors(runner)).toEqual([expect.stringContaining('policy')]);
  });

  it('is widened by the overlay of the turn’s grant, for that turn', () => {
    const journal = new Journal();
    journal.put('session/configured', { agent_id: 'a', generation: 1, spec: { policy: [] } });
    const runner = new Runner(scripted([calls('1:read'), says('x'), calls('1:read'), says('x')]), journal);
    const grant = (agent_turn_id: string, overlay?: unknown) =>
      journal.put('input/queued', {
        input_id: agent_turn_id,
        text: 'go',
        wake: true,
        grant: { agent_turn_id, generation: 1, ...(overlay === undefined ? {} : { overlay }) },
      });
    grant('g1', { policy: ['re*'] });
    grant('g2');
    runner.run();
    expect(errors(runner)).toEqual([null, expect.stringContaining('policy')]);
  });
});

describe('the approvals gate', () => {
  it.each([
    ['never', true, false],
    ['policy', true, true],
    ['policy', false, false],
    ['always', false, true],
  ] as const)('mode %s on a tool with mutating=%j asks: %j (APR-01, APR-02)', (approval, mutating, asks) => {
    const runner = asked(calls('1:x'), { traits: tools({ x: { approval, mutating } }) });
    expect(decide(runner).kind).toBe(asks ? 'park' : 'start');
  });

  it('that is not deployed asks nobody (APR-04)', () => {
    expect(decide(asked(calls('1:ask'), { approvals: false })).kind).toBe('start');
  });

  it('parks until a verdict, without any timeout, then runs the call once (APR-05, APR-06, APR-08, APR-19)', () => {
    const reply = calls({ id: '1', name: 'ask', args: { to: 'x' } });
    const runner = asked(reply);
    expect(runner.run()).toMatchObject({ kind: 'await_calls', parked: [callSeq(runner)] });
    expect(runner.run().kind).toBe('await_calls');
    expect(runner.journal.payloads('approval/requested')).toEqual([
      { call_seq: callSeq(runner), call_id: '1', name: 'ask', args: { to: 'x' } },
    ]);
    expect(status(runner.state)).toBe('waiting_approval');
    expect(decide(runner)).toMatchObject({ kind: 'parked' });
    verdict(runner, 'approved');
    expect(runner.run().kind).toBe('rest');
    expect(runner.executed).toHaveLength(1);
    expect(pendingApprovals(runner.state)).toEqual([]);
    expect(status(runner.state)).toBe('idle');
  });

  it.each([
    [{ reason: 'too risky' }, 'tool "ask": approval denied: too risky'],
    [{}, 'tool "ask": approval denied: no reason given'],
  ])('gives a denied call an error result, and the turn goes on (APR-07)', (more, error) => {
    const runner = asked(calls('1:ask'));
    runner.run();
    verdict(runner, 'denied', more);
    expect(runner.run().kind).toBe('rest');
    expect(errors(runner)).toEqual([error]);
    expect(runner.executed).toEqual([]);
  });

  it('asks again in a later turn, and for the same id with other arguments or another tool (APR-12, APR-13, APR-14)', () => {
    const ask = (name: string, to: string) => calls({ id: '1', name, args: { to } });
    const replies = [ask('ask', 'x'), ask('ask', 'y'), ask('write', 'y'), says('x'), ask('write', 'y'), says('x')];
    const runner = new Runner(scripted(replies));
    runner.journal.put('input/queued', { input_id: 'i1', text: 'go', wake: true });
    for (let asks = 1; asks <= 4; asks++) {
      expect(runner.run().kind).toBe('await_calls');
      expect(runner.journal.payloads('approval/requested')).toHaveLength(asks);
      if (asks === 3) runner.journal.put('input/queued', { input_id: 'i2', text: 'again', wake: true });
      // The second input rides the first turn's next step: the third answer is followed by a new turn's call.
      verdict(runner, 'approved');
      if (asks === 3) {
        runner.run();
        runner.journal.put('input/queued', { input_id: 'i3', text: 'more', wake: true });
      }
    }
    expect(runner.run().kind).toBe('rest');
    expect(runner.executed).toHaveLength(4);
  });

  it('keeps a sibling parked after one verdict; results are in call order (APR-23)', () => {
    const runner = asked(calls('1:ask', '2:ask'));
    runner.run();
    verdict(runner, 'approved', {}, 1);
    runner.run();
    expect(status(runner.state)).toBe('waiting_approval');
    expect(runner.journal.types()).not.toContain('tool/result');
    verdict(runner, 'approved');
    expect(runner.run().kind).toBe('rest');
    expect(runner.journal.payloads('tool/result').map(({ id }) => id)).toEqual(['1', '2']);
  });

  it('frees one of two calls with the same id per verdict (APR-24)', () => {
    const runner = asked(calls('1:ask', '1:ask'));
    runner.run();
    expect(pendingApprovals(runner.state)).toHaveLength(2);
    verdict(runner, 'approved');
    runner.run();
    expect([runner.executed.length, pendingApprovals(runner.state).length]).toEqual([1, 1]);
    verdict(runner, 'denied');
    runner.run();
    expect(errors(runner)).toEqual([null, expect.stringContaining('denied')]);
  });

  it('denies at once where no approver can be reached, and honours a verdict that is there (APR-26, APR-27)', () => {
    const journal = new Journal();
    journal.put('session/configured', { agent_id: 'a', generation: 1, spec: { unattended: true } });
    const grant = { agent_turn_id: 'g', generation: 1 };
    journal.put('input/queued', { input_id: 'g', text: 'go', wake: true, grant });
    const runner = new Runner(scripted([calls('1:ask', '2:ask'), says('x')]), journal);
    runner.tick();
    runner.tick();
    const [call] = runner.state.turn?.calls ?? [];
    const request_seq = journal.put('approval/requested', {
      call_seq: callSeq(runner),
      call_id: '1',
      name: 'ask',
      args: call?.args,
    });
    journal.put('approval/resolved', { call_id: '1', request_seq, verdict: 'approved' });
    expect(runner.run().kind).toBe('rest');
    expect(errors(runner)).toEqual([null, expect.stringContaining('no approver')]);
    expect(journal.payloads('approval/requested')).toHaveLength(1);
  });

  it('looks at the policy again once a verdict is there', () => {
    const runner = asked(calls('1:ask'));
    runner.run();
    runner.journal.put('policy/updated', { patterns: [] });
    expect(runner.run().kind).toBe('await_calls');
    verdict(runner, 'approved');
    runner.run();
    expect(errors(runner)).toEqual([expect.stringContaining('policy')]);
  });
});
