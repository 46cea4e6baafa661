import { describe, expect, it } from '@jest/globals';
import { calls, Journal, Runner, says, scripted } from '../testing/index.js';
import { decideOutcome } from './outcome.js';
import { continued } from './continuation.js';
import { decideReply } from './reply.js';
import type { Append } from './types.js';

/** A runner that stands before the answer of its first step. */
function asked(): Runner {
  const runner = new Runner(scripted([calls('c1:read', 'c2:search')], { slow: () => true }));
  runner.journal.put('input/queued', { input_id: 'i1', text: 'go', wake: true });
  runner.tick();
  return runner;
}

function follow(runner: Runner, first: Append, claims = true): ReturnType<typeof continued> {
  return continued(runner.state, first, {
    preview: (state, events) => runner.journal.preview(state, events),
    context: () => runner.context(),
    claims,
  });
}

function reply(runner: Runner, parts: Parameters<typeof decideReply>[1]): Append {
  const decision = decideReply(runner.state, parts);
  if (decision.kind === 'refused') throw new Error(decision.message);
  return decision.append;
}

function outcome(runner: Runner, index: number): Append {
  const call_seq = runner.state.turn?.calls[index]?.call_seq ?? -1;
  runner.running.delete(call_seq);
  const decision = decideOutcome(runner.state, call_seq, { content: 'ok', error: null });
  if (decision.kind === 'refused') throw new Error(decision.message);
  return decision.append;
}

const types = ({ events }: Append): string[] => events.map(({ type }) => type);

describe('what follows from an append', () => {
  it('ends step and turn behind the final message, under the conditions of all three', () => {
    const runner = asked();
    const { append, claim } = follow(runner, reply(runner, says('done')));
    expect(types(append)).toEqual(['assistant/message', 'step/end', 'turn/end']);
    expect(claim).toBeNull();
    expect(append.expect.seq).toBe(runner.state.last_seq);
    expect(append.expect.none_of).toEqual(expect.arrayContaining(['assistant/message', 'turn/cancel_requested']));
    expect(new Set(append.expect.none_of).size).toBe(append.expect.none_of.length);
  });

  it('stops behind calls, whose seq nobody knows yet', () => {
    const runner = asked();
    const { append } = follow(runner, reply(runner, calls('c1:read')));
    expect(types(append)).toEqual(['assistant/message', 'tool/call']);
    // Not even a cancel answers them in the same append.
    runner.journal.put('turn/cancel_requested', { turn_id: 't0' });
    expect(types(follow(runner, reply(runner, calls('c1:read'))).append)).toEqual(['assistant/message', 'tool/call']);
  });

  it('claims the next step behind the last result, and asks what the log will then hold', () => {
    const runner = asked();
    runner.tick();
    runner.tick();
    const first = outcome(runner, 0);
    expect(types(follow(runner, first).append)).toEqual(['tool/result']);
    runner.journal.append(first);
    const last = outcome(runner, 1);
    const { append, claim } = follow(runner, last);
    expect(types(append)).toEqual(['tool/result', 'step/end', 'step/start']);
    expect(append.expect.none_of).toEqual(expect.arrayContaining(['session/model_selected', 'turn/end']));
    runner.journal.append(append);
    expect(claim?.request.digest).toBe(runner.state.turn?.step?.request_digest);
    expect(claim?.request.messages.at(-1)).toMatchObject({ role: 'tool', id: 'c2' });
  });

  it('leaves the claim to a decision of its own where somebody is asked first', () => {
    const runner = asked();
    runner.tick();
    runner.tick();
    runner.journal.append(outcome(runner, 0));
    const { append, claim } = follow(runner, outcome(runner, 1), false);
    expect(types(append)).toEqual(['tool/result', 'step/end']);
    expect(claim).toBeNull();
  });

  it('settles a cancelled turn behind its last result', () => {
    const runner = asked();
    runner.tick();
    runner.tick();
    runner.journal.put('turn/cancel_requested', { turn_id: 't0', reason: 'enough' });
    runner.journal.append(outcome(runner, 0));
    const { append } = follow(runner, outcome(runner, 1));
    expect(types(append)).toEqual(['tool/result', 'step/end', 'turn/end']);
    expect(append.events.at(-1)?.payload).toMatchObject({ status: 'cancelled', reason: 'enough' });
  });

  it('starts no turn behind the end of another', () => {
    const runner = asked();
    runner.journal.put('input/queued', { input_id: 'i2', text: 'next', wake: true });
    expect(types(follow(runner, reply(runner, says('done'))).append).at(-1)).toBe('turn/end');
  });

  it('gives the same log as decisions of their own', () => {
    const logs = [true, false].map((joins) => {
      const runner = new Runner(scripted([calls('c1:read'), says('done')], { joins }), new Journal());
      runner.journal.put('input/queued', { input_id: 'i1', text: 'go', wake: true });
      runner.run();
      return runner.journal.events.map(({ type, payload }) => ({ type, payload }));
    });
    expect(logs[0]).toEqual(logs[1]);
  });
});
