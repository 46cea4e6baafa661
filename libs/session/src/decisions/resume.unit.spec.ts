import { describe, expect, it } from '@jest/globals';
import { openTurn, pendingApprovals, resumeCause, status, usage } from '../folds/selectors.js';
import { calls, Journal, Runner, says, scripted } from '../testing/index.js';
import type { World } from '../testing/index.js';
import { decideCall } from './call.js';
import { decideResume, RECOVERY_LIMIT } from './resume.js';
import type { Reply } from './types.js';

/** A runner whose process died once `type` had been logged `times` times. */
function diedAfter(type: string, replies: readonly (Reply | Error)[], some: Partial<World> = {}, times = 1): Runner {
  const runner = new Runner(scripted(replies, { usage: () => ({ prompt_tokens: 1, completion_tokens: 1 }), ...some }));
  runner.journal.put('input/queued', { input_id: 'i1', text: 'go', wake: true });
  const logged = () => runner.journal.types().filter((candidate) => candidate === type).length;
  for (let ticks = 0; ticks < 500 && logged() < times; ticks++) runner.tick();
  if (logged() < times) throw new Error(`${type} was not logged ${times} times`);
  runner.die();
  return runner;
}

const ends = (runner: Runner) => runner.journal.payloads('turn/end').map((end) => end.status);
const results = (runner: Runner) => runner.journal.payloads('tool/result').map(({ id, error }) => [id, error]);
const numbers = (runner: Runner) => runner.journal.payloads('step/start').map(({ n }) => n);

describe('an open turn', () => {
  it('is one with a start and no end (RES-01, RES-05)', () => {
    const journal = new Journal();
    expect(openTurn(journal.state)).toBeNull();
    expect(decideResume(journal.state, { epoch: 1, cause: 'death' })).toMatchObject({ code: 'nothing_open' });
    journal.put('turn/start', { turn_id: 't', agent: 'a', epoch: 1 });
    expect(openTurn(journal.state)?.turn_id).toBe('t');
    journal.put('turn/end', { turn_id: 't', status: 'empty' });
    expect(openTurn(journal.state)).toBeNull();
  });

  it('is resumed without a second start, and ends once (RES-02)', () => {
    const runner = diedAfter('tool/call', [calls('1:read'), says('x')]);
    expect(runner.takeOver()).toBe('resume');
    runner.run();
    expect(runner.journal.payloads('turn/start')).toHaveLength(1);
    expect(ends(runner)).toEqual(['completed']);
    expect(runner.journal.payloads('turn/resumed')).toEqual([{ turn_id: 't0', epoch: 2, cause: 'death' }]);
  });

  it('runs only the calls it owes, then ends the step without usage, then goes on (RES-06, RES-07, CST-04)', () => {
    const runner = diedAfter('tool/result', [calls('1:pay', '2:write', '3:pay'), says('x')], {
      slow: (name) => name === 'write',
    });
    const before = runner.executed.length;
    runner.takeOver();
    runner.run();
    for (const { call_id, request_seq } of pendingApprovals(runner.state)) {
      runner.journal.put('approval/resolved', { call_id, request_seq, verdict: 'approved' });
    }
    runner.run();
    expect(runner.executed.slice(before).map(({ name }) => name)).toEqual(['write', 'pay']);
    expect(results(runner)).toEqual([
      ['1', null],
      ['2', null],
      ['3', null],
    ]);
    expect(runner.journal.payloads('step/end').map((end) => 'usage' in end)).toEqual([false, true]);
    expect(usage(runner.state)).toMatchObject({ steps: 2, prompt_tokens: 1 });
  });

  it('leaves a step without reply unclosed and counts on (RES-11)', () => {
    const runner = diedAfter('step/start', [says('x')]);
    runner.takeOver();
    runner.run();
    expect(numbers(runner)).toEqual([1, 2]);
    expect(runner.journal.payloads('step/end').map(({ n }) => n)).toEqual([2]);
    expect(runner.journal.payloads('user/message')).toHaveLength(1);
  });

  it.each(['assistant/message', 'step/end'])(
    'that died after a final reply (%s) asks the model exactly once more (RES-12)',
    (type) => {
      const runner = diedAfter('assistant/message', [says('final'), says('as I said')]);
      if (type === 'step/end') runner.journal.put('step/end', { n: 1 });
      runner.takeOver();
      runner.run();
      expect(numbers(runner)).toEqual([1, 2]);
      expect(runner.journal.payloads('assistant/message')).toHaveLength(2);
      expect(ends(runner)).toEqual(['completed']);
    },
  );

  it('that logged only its start says its queued input (RES-13), or is empty with nothing queued', () => {
    const runner = new Runner(scripted([says('x')]));
    runner.journal.put('input/queued', { input_id: 'i1', text: 'go', wake: true });
    runner.tick(1);
    runner.die();
    runner.takeOver();
    runner.run();
    expect(runner.journal.payloads('user/message')).toEqual([{ text: 'go', input_id: 'i1' }]);
    expect(ends(runner)).toEqual(['completed']);

    const bare = new Runner(scripted([says('x')]));
    bare.journal.put('turn/start', { turn_id: 't', agent: 'a', epoch: 1 });
    bare.takeOver();
    bare.run();
    expect(bare.journal.types().slice(1)).toEqual(['turn/start', 'turn/resumed', 'turn/end']);
    expect(ends(bare)).toEqual(['empty']);
  });

  it('takes text that was queued meanwhile as a steer, in no new turn (RES-14, RES-19)', () => {
    const runner = new Runner(scripted([says('x')]));
    runner.journal.put('turn/start', { turn_id: 't', agent: 'a', epoch: 1 });
    runner.journal.put('input/queued', { input_id: 'i2', text: 'wake up', wake: true });
    runner.takeOver('wake');
    runner.run();
    expect(runner.journal.payloads('context/injected')).toEqual([{ text: 'wake up', input_id: 'i2' }]);
    expect(runner.journal.payloads('turn/start')).toHaveLength(1);
  });

  it('whose resume fails stays open, stalled, until a stimulus completes it (RES-15)', () => {
    const runner = diedAfter('tool/call', [calls('1:read'), new Error('503'), says('x')]);
    runner.takeOver();
    expect(runner.run()).toEqual({ kind: 'stalled', reason: '503' });
    expect(ends(runner)).toEqual([]);
    expect(status(runner.state)).toBe('stalled');
    expect(runner.takeOver()).toBe('stay');
    runner.journal.put('input/queued', { input_id: 'i2', text: 'and now?', wake: true });
    runner.wake();
    runner.run();
    expect(ends(runner)).toEqual(['completed']);
  });

  it('counts the steps of all its processes toward the cap (RES-21)', () => {
    const runner = diedAfter('step/start', [calls('1:read')], {}, 20);
    runner.takeOver();
    runner.run();
    expect(numbers(runner)).toHaveLength(25);
    expect(ends(runner)).toEqual(['failed']);
  });

  it('stalls after five resumes from death, which nothing resets; handovers do not count', () => {
    const runner = diedAfter('step/start', [calls('1:read')]);
    for (let death = 1; death <= RECOVERY_LIMIT; death++) {
      expect(runner.takeOver()).toBe('resume');
      const atBoundary = () => runner.state.turn?.step === null && runner.state.turn.n >= 2 * death;
      for (let ticks = 0; ticks < 50 && !atBoundary(); ticks++) runner.tick();
      runner.handOver();
      const { turn } = runner.state;
      expect(turn && resumeCause(turn)).toBe('handover');
      expect(runner.takeOver()).toBe('resume');
      runner.die();
    }
    expect(runner.state.turn?.resumes).toEqual({ death: 5, handover: 5, wake: 0, verdict: 0 });
    expect(runner.takeOver()).toBe('stall');
    expect(runner.takeOver()).toBe('stay');
    expect(runner.run().kind).toBe('stalled');
  });

  it('that stalled is still closed by a cancel', () => {
    const runner = diedAfter('tool/call', [calls('1:read')]);
    runner.journal.put('turn/stalled', { turn_id: 't0', epoch: 2, reason: 'r' });
    runner.journal.put('turn/cancel_requested', { turn_id: 't0' });
    expect(runner.run().kind).toBe('rest');
    expect(ends(runner)).toEqual(['cancelled']);
    expect(results(runner)).toEqual([['1', 'cancelled before execution']]);
  });

  it('that was handed over after its final reply asks no more', () => {
    const runner = diedAfter('assistant/message', [says('final')]);
    runner.journal.put('step/end', { n: 1 });
    runner.handOver();
    runner.takeOver();
    runner.run();
    expect(numbers(runner)).toEqual([1]);
    expect(ends(runner)).toEqual(['completed']);
  });
});

describe('a call that may have run', () => {
  const inFlight = (name: string) => {
    const runner = new Runner(scripted([calls(`1:${name}`), says('x')], { slow: () => true }));
    runner.journal.put('input/queued', { input_id: 'i1', text: 'go', wake: true });
    for (let ticks = 0; ticks < 9 && runner.running.size === 0; ticks++) runner.tick();
    runner.die();
    runner.takeOver();
    return runner;
  };

  it('runs again, as its next attempt, with the same call_seq (RES-09)', () => {
    const runner = inFlight('read');
    runner.run();
    expect(runner.executed.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(new Set(runner.executed.map(({ call_seq }) => call_seq)).size).toBe(1);
    expect(runner.journal.payloads('tool/started').map(({ epoch }) => epoch)).toEqual([1, 2]);
    expect(results(runner)).toEqual([['1', null]]);
  });

  it('is not repeated when its tool says so: outcome unknown', () => {
    const runner = inFlight('pay');
    runner.run();
    expect(runner.executed).toHaveLength(1);
    expect(results(runner)).toEqual([['1', expect.stringContaining('outcome unknown')]]);
  });

  it('is not replayed with arguments that were redacted when stored (RES-20)', () => {
    const runner = inFlight('read');
    const callSeq = runner.state.turn?.calls[0]?.call_seq ?? -1;
    const decision = decideCall(runner.state, callSeq, runner.context(), { altered: true });
    expect(decision.kind === 'answer' && decision.append.events[0]?.payload).toMatchObject({
      error: expect.stringContaining('redacted'),
    });
    expect(decideCall(runner.state, callSeq, runner.context()).kind).toBe('start');
  });
});

describe('a parked call whose process died', () => {
  const parked = () => diedAfter('approval/requested', [calls('1:ask'), says('x')]);
  const verdict = (runner: Runner) => {
    const [request] = pendingApprovals(runner.state);
    const { call_id = '', request_seq = -1 } = request ?? {};
    runner.journal.put('approval/resolved', { call_id, request_seq, verdict: 'approved' });
  };

  it('stays parked on its standing request, uncounted (APR-17)', () => {
    const runner = parked();
    for (let restart = 0; restart < 50; restart++) expect(runner.takeOver()).toBe('stay');
    expect(runner.journal.types()).not.toContain('turn/resumed');
    expect(runner.journal.payloads('approval/requested')).toHaveLength(1);
    expect(status(runner.state)).toBe('waiting_approval');
  });

  it('runs, without being asked about again, once a verdict is there (APR-16, APR-18)', () => {
    const runner = parked();
    verdict(runner);
    expect(runner.takeOver('verdict')).toBe('resume');
    runner.run();
    expect(runner.journal.payloads('approval/requested')).toHaveLength(1);
    expect(runner.executed).toHaveLength(1);
    expect(ends(runner)).toEqual(['completed']);
  });

  it('is matched in stored form, key order aside (APR-29)', () => {
    const runner = diedAfter('tool/call', [calls({ id: '1', name: 'ask', args: { b: 1, a: 2 } }), says('x')]);
    const call_seq = runner.state.turn?.calls[0]?.call_seq ?? -1;
    const request_seq = runner.journal.put('approval/requested', {
      call_seq,
      call_id: '1',
      name: 'ask',
      args: { a: 2, b: 1 },
    });
    runner.journal.put('approval/resolved', { call_id: '1', request_seq, verdict: 'approved' });
    expect(decideCall(runner.state, call_seq, runner.context()).kind).toBe('start');
  });
});
