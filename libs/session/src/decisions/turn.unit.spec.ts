import { describe, expect, it } from '@jest/globals';
import { decideTurn, decideTurnRefused } from './turn.js';
import { calls, Journal, Runner, says, scripted } from '../testing/index.js';
import { history, status } from '../folds/selectors.js';

const queue = (journal: Journal, input_id: string, more: object = {}) =>
  journal.put('input/queued', { input_id, text: `text of ${input_id}`, wake: true, ...more });

function runnerOf(...args: ConstructorParameters<typeof Runner>): Runner {
  const runner = new Runner(...args);
  queue(runner.journal, 'i1');
  return runner;
}

const ends = (runner: Runner) => runner.journal.payloads('turn/end');

describe('a turn', () => {
  it('of plain input and a tool-free reply has this log order (TRN-05, INJ-04)', () => {
    const runner = runnerOf(scripted([says('hello')]));
    expect(runner.run().kind).toBe('rest');
    expect(runner.journal.types()).toEqual([
      'session/created',
      'input/queued',
      'turn/start',
      'step/start',
      'user/message',
      'assistant/message',
      'step/end',
      'turn/end',
    ]);
    expect(ends(runner)).toEqual([{ turn_id: 't0', status: 'completed' }]);
    expect(runner.journal.payloads('user/message')).toEqual([{ text: 'text of i1', input_id: 'i1' }]);
  });

  it('with one tool call has two steps, the first closed before the second opens (TRN-06)', () => {
    const runner = runnerOf(scripted([calls('c1:read'), says('done')]));
    runner.run();
    expect(runner.journal.types().slice(2)).toEqual([
      ...['turn/start', 'step/start', 'user/message', 'assistant/message', 'tool/call', 'tool/started', 'tool/result'],
      ...['step/end', 'step/start', 'assistant/message', 'step/end', 'turn/end'],
    ]);
  });

  it('records the model and number of each step, and usage where the provider reported it (TRN-14, TRN-15, CST-05)', () => {
    const usages = [{ prompt_tokens: 5, completion_tokens: 1, cost: 0.1 }, undefined];
    const runner = runnerOf(scripted([calls('c1:read'), says('done')], { usage: () => usages.shift() }));
    for (let ticks = 0; ticks < 50 && runner.journal.payloads('step/end').length < 1; ticks++) runner.tick();
    runner.journal.put('session/model_selected', { role: 'main', model: 'other/model' });
    runner.run();
    expect(runner.journal.payloads('step/start')).toMatchObject([
      { n: 1, model: 'test/model' },
      { n: 2, model: 'other/model' },
    ]);
    expect(runner.journal.payloads('step/end')).toEqual([
      { n: 1, usage: { prompt_tokens: 5, completion_tokens: 1, cost: 0.1 } },
      { n: 2 },
    ]);
  });

  it('that never stops calling tools fails at the attempt to open a 26th step (TRN-03)', () => {
    const runner = runnerOf(scripted([calls('c1:read')]));
    runner.run();
    expect(runner.journal.payloads('step/start').map(({ n }) => n)).toEqual(
      Array.from({ length: 25 }, (_, i) => i + 1),
    );
    expect(ends(runner)).toMatchObject([{ status: 'failed', reason: expect.stringContaining('25') }]);
    expect(status(runner.state)).toBe('idle');
  });

  it('of 24 tool steps and an answer has exactly 25 and completes (TRN-04)', () => {
    const replies = [...Array.from({ length: 24 }, () => calls('c1:read')), says('at last')];
    const runner = runnerOf(scripted(replies));
    runner.run();
    expect(runner.journal.payloads('step/start')).toHaveLength(25);
    expect(ends(runner)).toMatchObject([{ status: 'completed' }]);
  });

  it('whose claim a hook refuses is rejected: no step, no text, and the input is used up (TRN-07)', () => {
    const journal = new Journal();
    queue(journal, 'steer', { wake: false });
    const runner = runnerOf(scripted([says('x')]), journal, { pre_step: () => ({ reject: 'off hours' }) });
    expect(runner.run().kind).toBe('rest');
    expect(journal.types().slice(3)).toEqual(['turn/start', 'turn/end']);
    expect(ends(runner)).toMatchObject([{ status: 'rejected', reason: 'off hours' }]);
    expect(runner.state.inbox.map((input) => input.input_id)).toEqual(['steer']);
  });

  it('logs and sends what a hook rewrote, each text under its own type (TRN-13)', () => {
    const journal = new Journal();
    queue(journal, 'steer', { wake: false });
    const runner = runnerOf(scripted([says('x')]), journal, {
      pre_step: (messages) => messages.map((message) => ({ ...message, text: message.text.toUpperCase() })),
    });
    const action = runner.tick();
    expect(journal.payloads('user/message')).toEqual([{ text: 'TEXT OF I1', input_id: 'i1' }]);
    expect(journal.payloads('context/injected')).toEqual([{ text: 'TEXT OF STEER', input_id: 'steer' }]);
    expect(action.kind === 'claim' && action.request.messages).toEqual(history(runner.state));
  });

  it('with nothing to say is empty: a start and an end (TRN-09)', () => {
    const runner = new Runner(scripted([says('x')]));
    const action = decideTurn(runner.state, runner.context());
    if (action.kind !== 'append') throw new Error(action.kind);
    runner.journal.append(action.append);
    expect(runner.journal.types()).toEqual(['session/created', 'turn/start', 'turn/end']);
    expect(ends(runner)).toMatchObject([{ status: 'empty' }]);
  });

  it('without input but with a queued steer runs one step with it (TRN-10)', () => {
    const runner = new Runner(scripted([says('x')]));
    queue(runner.journal, 'steer', { wake: false });
    const action = decideTurn(runner.state, runner.context());
    if (action.kind !== 'claim') throw new Error(action.kind);
    runner.journal.append(action.append);
    runner.run();
    expect(runner.journal.types().slice(2)).toEqual([
      ...['turn/start', 'step/start', 'context/injected', 'assistant/message', 'step/end', 'turn/end'],
    ]);
  });

  it('whose provider throws fails for good, and the next one runs (TRN-11, RES-16)', () => {
    const runner = runnerOf(scripted([new Error('503'), says('x')]));
    runner.run();
    expect(runner.journal.types().at(-1)).toBe('turn/end');
    expect(ends(runner)).toMatchObject([{ status: 'failed', reason: '503' }]);
    queue(runner.journal, 'i2');
    runner.run();
    expect(ends(runner).map((end) => end.status)).toEqual(['failed', 'completed']);
  });

  it('fails where no model is configured, once', () => {
    const runner = runnerOf(scripted([says('x')]), new Journal(), { deployment: {} });
    expect(runner.run().kind).toBe('rest');
    expect(ends(runner)).toMatchObject([{ status: 'failed', reason: expect.stringContaining('"main"') }]);
  });

  it('that cannot begin is started and failed at once, which uses its input up', () => {
    const runner = runnerOf(scripted([says('x')]));
    const close = { input_id: 'i1', status: 'failed' as const, reason: 'fold differs' };
    const decision = decideTurnRefused(runner.state, runner.context(), close);
    if (decision.kind !== 'append') throw new Error(decision.message);
    runner.journal.append(decision.append);
    expect(runner.run().kind).toBe('rest');
    expect(ends(runner)).toEqual([{ turn_id: 't0', status: 'failed', reason: 'fold differs' }]);
  });
});

describe('a second turn', () => {
  it('is refused while one runs or is parked, and differently where nobody runs the open one (TRN-02, RES-03, RES-04)', () => {
    const runner = runnerOf(scripted([calls('c1:ask')]));
    runner.tick();
    const code = (running_turn_id?: string) => {
      const decision = decideTurn(runner.state, runner.context(), running_turn_id ? { running_turn_id } : {});
      return decision.kind === 'refused' && decision.code;
    };
    expect(code('t0')).toBe('turn_already_running');
    runner.run();
    expect(status(runner.state)).toBe('waiting_approval');
    expect(code('t0')).toBe('turn_already_running');
    expect(code()).toBe('turn_open_in_log');
    expect(code('another')).toBe('turn_open_in_log');
  });

  it('in a session of an agent starts by grant only, with the grant’s id and agent', () => {
    const runner = runnerOf(scripted([says('x')]));
    const { journal } = runner;
    journal.put('session/configured', { agent_id: 'a1', generation: 1, spec: { system_prompt: 'Be brief.' } });
    expect(runner.run().kind).toBe('rest');
    const refused = (input_id?: string) => {
      const decision = decideTurn(runner.state, runner.context(), input_id ? { input_id } : {});
      return decision.kind === 'refused' && decision.code;
    };
    expect([refused(), refused('i1'), refused('nope')]).toEqual(['not_granted', 'not_granted', 'unknown_input']);
    const grant = { agent_turn_id: 'g7', generation: 1, promotes: 'i1' };
    journal.put('input/queued', { input_id: 'g7', text: 'text of i1', wake: true, grant });
    const action = runner.tick();
    expect(action.kind === 'claim' && action.request.system).toBe('Be brief.');
    runner.run();
    expect(journal.payloads('turn/start')).toEqual([{ turn_id: 'g7', agent: 'a1', input_id: 'g7', epoch: 1, grant }]);
    expect(journal.payloads('user/message')).toEqual([{ text: 'text of i1', input_id: 'g7' }]);
    expect(journal.payloads('context/injected')).toEqual([]);
    expect(runner.state.inbox).toEqual([]);
  });

  it('that was granted never rides another as a steer, and is revoked by a cancel that names it ahead', () => {
    const runner = runnerOf(scripted([calls('c1:read'), says('x')]));
    const { journal } = runner;
    runner.tick();
    journal.put('input/queued', { input_id: 'g', text: 'p', wake: true, grant: { agent_turn_id: 'g', generation: 1 } });
    journal.put('turn/cancel_requested', { turn_id: 'g', reason: 'changed my mind' });
    expect(runner.run().kind).toBe('rest');
    expect(journal.payloads('context/injected')).toEqual([]);
    expect(ends(runner)).toEqual([
      { turn_id: 't0', status: 'completed' },
      { turn_id: 'g', status: 'cancelled', reason: 'changed my mind' },
    ]);
    expect(runner.state.inbox).toEqual([]);
  });
});

describe('queued text', () => {
  it('that does not wake waits; with the next turn it follows the input (INJ-01, INJ-02)', () => {
    const runner = new Runner(scripted([says('x')]));
    queue(runner.journal, 'steer', { wake: false });
    expect(runner.tick().kind).toBe('rest');
    queue(runner.journal, 'i1');
    runner.run();
    expect(runner.journal.types().slice(3, 7)).toEqual([
      'turn/start',
      'step/start',
      'user/message',
      'context/injected',
    ]);
  });

  it('rides the next step of a turn under way, waking or not (INJ-03, INJ-05)', () => {
    const runner = runnerOf(scripted([calls('c1:read'), says('x')]));
    for (let ticks = 0; ticks < 50 && !runner.journal.types().includes('tool/call'); ticks++) runner.tick();
    queue(runner.journal, 'i2');
    queue(runner.journal, 'i3', { wake: false });
    runner.run();
    expect(runner.journal.payloads('turn/start')).toHaveLength(1);
    expect(runner.journal.types().slice(-6)).toEqual([
      ...['step/start', 'context/injected', 'context/injected', 'assistant/message', 'step/end', 'turn/end'],
    ]);
  });

  it('of two that race makes one turn, and the other rides its next step (INJ-06)', () => {
    const runner = runnerOf(scripted([calls('c1:read'), says('x')]));
    const late = runner.context();
    runner.tick();
    queue(runner.journal, 'i2');
    expect(decideTurn(runner.state, late, { input_id: 'i2', running_turn_id: 't0' })).toMatchObject({
      code: 'turn_already_running',
    });
    runner.run();
    expect(runner.journal.payloads('turn/start')).toHaveLength(1);
    expect(runner.journal.payloads('context/injected')).toEqual([{ text: 'text of i2', input_id: 'i2' }]);
  });

  it('that finds no further step starts the next turn at once (INJ-07)', () => {
    const runner = runnerOf(scripted([says('x')]));
    runner.tick();
    queue(runner.journal, 'i2');
    runner.run();
    expect(runner.journal.payloads('turn/start').map((start) => start.input_id)).toEqual(['i1', 'i2']);
    expect(runner.journal.payloads('user/message').map((message) => message.input_id)).toEqual(['i1', 'i2']);
  });

  it('of more inputs than one append takes rides several steps, in order, each once', () => {
    const journal = new Journal();
    const ids = Array.from({ length: 130 }, (_, index) => `s${index}`);
    for (const id of ids) queue(journal, id, { wake: false });
    const runner = runnerOf(scripted([calls('c1:read'), calls('c1:read'), says('x')]), journal);
    runner.run();
    expect(journal.payloads('context/injected').map((message) => message.input_id)).toEqual(ids);
    expect(journal.payloads('user/message')).toHaveLength(1);
  });
});
