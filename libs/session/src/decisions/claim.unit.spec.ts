import { describe, expect, it } from '@jest/globals';
import { digest } from '../canonical.js';
import { historyDigest } from '../folds/history.js';
import { history } from '../folds/selectors.js';
import { calls, Journal, Runner, says, scripted } from '../testing/index.js';
import { decideReservation } from './budget.js';
import { nextAction } from './next-action.js';
import { derivedRequestDigest } from './request.js';
import type { TurnContext } from './types.js';

const READ = { name: 'read', description: 'Reads', input_schema: { type: 'object' } };

function claimOf(overrides: Partial<TurnContext> = {}, journal = new Journal()) {
  journal.put('input/queued', { input_id: 'i1', text: 'my key is k-123', wake: true });
  journal.put('input/queued', { input_id: 'i2', text: 'and k-123', wake: false });
  const runner = new Runner(scripted([says('x')]), journal, overrides);
  const action = nextAction(runner.state, runner.context());
  if (action.kind !== 'claim') throw new Error(action.kind);
  return { journal, runner, action };
}

describe('the claim of a step', () => {
  it('has its events in this order, under this condition', () => {
    const { action, journal } = claimOf({ tools: [READ] });
    expect(action.append.events.map((event) => event.type)).toEqual([
      ...['turn/start', 'context/tools', 'step/start', 'user/message', 'context/injected'],
    ]);
    expect(action.append.expect).toEqual({
      seq: journal.events.length - 1,
      none_of: [
        ...['turn/cancel_requested', 'session/compacted', 'session/configured', 'session/model_selected'],
        'session/quarantined',
      ],
    });
  });

  it.each([
    ...(['turn/cancel_requested', 'session/compacted', 'session/configured', 'session/model_selected'] as const),
    'session/quarantined' as const,
  ])('fails when a %s landed meanwhile', (type) => {
    const { action, journal } = claimOf();
    const payloads = {
      'turn/cancel_requested': { turn_id: 'x' },
      'session/compacted': { summary: 's' },
      'session/configured': { agent_id: 'a', generation: 1, spec: {} },
      'session/model_selected': { role: 'main' as const, model: 'a/b' },
      'session/quarantined': {},
    };
    journal.put('session/titled', { title: 'no matter' });
    journal.put(type, payloads[type] as never);
    expect(journal.append(action.append)).toBeNull();
  });

  it('describes the tools when they change, and not before', () => {
    const runner = new Runner(scripted([calls('c1:read'), calls('c1:read'), says('x')]), new Journal(), {
      tools: [READ],
    });
    runner.journal.put('input/queued', { input_id: 'i1', text: 'go', wake: true });
    for (let ticks = 0; ticks < 50 && runner.journal.payloads('step/end').length < 2; ticks++) runner.tick();
    expect(runner.journal.payloads('context/tools')).toHaveLength(1);
    const other = { ...READ, description: 'Reads better' };
    const action = nextAction(runner.state, { ...runner.context(), tools: [other] });
    expect(action.kind === 'claim' && action.append.events[0]).toMatchObject({
      type: 'context/tools',
      payload: { tools: [other] },
    });
    const none = nextAction(runner.state, { ...runner.context(), tools: [] });
    expect(none.kind === 'claim' && none.append.events[0]).toMatchObject({ payload: { tools: [] } });
  });

  it('carries the digest of model, system prompt, tools and history as they will be stored (PRJ-06, RED-02)', () => {
    const journal = new Journal();
    journal.put('session/configured', { agent_id: 'a', generation: 1, spec: { system_prompt: 'Be brief.' } });
    journal.put('input/queued', {
      input_id: 'g',
      text: 'k-123',
      wake: true,
      grant: { agent_turn_id: 'g', generation: 1 },
    });
    const { action } = claimOf({ tools: [READ], scrub: (text) => text.replaceAll('k-123', '[x]') }, journal);
    journal.append(action.append);
    const texts = ['[x]', 'my key is [x]', 'and [x]'];
    expect(history(journal.state).map((item) => item.role === 'user' && item.text)).toEqual(texts);
    expect(action.request.messages).toEqual(history(journal.state));
    expect(action.request.digest).toBe(
      digest({
        model: 'test/model',
        system: 'Be brief.',
        tools: digest({ tools: [READ], resources: [] }),
        history: historyDigest(action.request.messages),
      }),
    );
    expect(journal.payloads('step/start')[0]?.request_digest).toBe(action.request.digest);
    expect(derivedRequestDigest(journal.state, { model: 'test/model' })).toBe(action.request.digest);
  });

  it.each([0, 1, 2, 3, 4])('stored up to %i events is taken up: no input lost, none said twice', (stored) => {
    const { journal, runner } = claimOf({ tools: [READ] });
    runner.tick(stored);
    runner.die();
    if (journal.state.turn !== null) expect(runner.takeOver()).toBe('resume');
    runner.run();
    expect(journal.payloads('user/message').map((message) => message.input_id)).toEqual(['i1']);
    expect(journal.payloads('context/injected').map((message) => message.input_id)).toEqual(['i2']);
    expect(journal.payloads('turn/start')).toHaveLength(1);
    expect(journal.payloads('turn/end')).toMatchObject([{ status: 'completed' }]);
  });

  it('sees the latest summary and what came after it (CMP-10)', () => {
    const journal = new Journal();
    journal.put('user/message', { text: 'old', input_id: 'i0' });
    journal.put('session/compacted', { upto_seq: 1, summary: 'in short' });
    const { action } = claimOf({}, journal);
    expect(action.request.messages.map((item) => item.role === 'user' && item.text)).toEqual([
      ...['in short', 'my key is k-123', 'and k-123'],
    ]);
  });
});

describe('the parameters of a request', () => {
  it('are in step/start and covered by the digest; nothing set is the same as no hook', () => {
    const plain = claimOf().action.request.digest;
    const asked: unknown[] = [];
    const { action, journal } = claimOf({ parameters: (step) => (asked.push(step), { temperature: 0.2 }) });
    expect(asked).toEqual([{ turn_id: 't0', n: 1, model: 'test/model' }]);
    journal.append(action.append);
    const [step] = journal.payloads('step/start');
    expect(step).toMatchObject({ parameters: { temperature: 0.2 } });
    expect(action.request).toMatchObject({ parameters: { temperature: 0.2 } });
    expect(action.request.digest).not.toBe(plain);
    expect(derivedRequestDigest(journal.state, step!)).toBe(step!.request_digest);
    expect(claimOf({ parameters: () => ({}) }).action.request).not.toHaveProperty('parameters');
    expect(claimOf({ parameters: () => ({}) }).action.request.digest).toBe(plain);
  });
});

describe('a budget', () => {
  it('of the grant takes reservations up to its allowance, and ends the turn beyond', () => {
    const journal = new Journal();
    const grant = { agent_turn_id: 'g', generation: 1, allowance: 1 };
    journal.put('turn/start', { turn_id: 'g', agent: 'a', epoch: 1, grant });
    const reserve = (amount: number) => {
      const decision = decideReservation(journal.state, { purpose: 'step', amount });
      if (decision.kind === 'append') journal.append(decision.append);
    };
    reserve(0.6);
    journal.put('budget/settled', { purpose: 'step', amount: 0.5 });
    reserve(0.5);
    expect(journal.payloads('budget/reserved')).toHaveLength(2);
    reserve(0.1);
    const reason = "budget: the turn's allowance of 1 US dollars does not cover 0.1 more";
    expect(journal.payloads('turn/end')).toEqual([{ turn_id: 'g', status: 'failed', reason }]);
  });

  it('of the session ends its turns once it is spent', () => {
    const usage = () => ({ prompt_tokens: 1, completion_tokens: 1, cost: 2 });
    const runner = new Runner(scripted([calls('c1:read')], { usage }));
    const { journal } = runner;
    const grant = { agent_turn_id: 'g', generation: 1 };
    journal.put('session/configured', { agent_id: 'a', generation: 1, spec: { limits: { cost: 3 } } });
    journal.put('input/queued', { input_id: 'g', text: 'go', wake: true, grant });
    expect(runner.run().kind).toBe('rest');
    expect(journal.payloads('step/end')).toHaveLength(2);
    const reason = 'budget: the session has spent 4 of 3 US dollars';
    expect(journal.payloads('turn/end')).toEqual([{ turn_id: 'g', status: 'failed', reason }]);
  });

  it.each([
    [{ cost: 1 }, {}, 1, 'budget: the session has spent 2 of 1 US dollars'],
    [{ tokens: 20 }, {}, 2, 'budget: the session has used 20 of 20 tokens'],
    [{ cost: 1, tokens: 25 }, { limits: { cost: 100 } }, 3, 'budget: the session has used 30 of 25 tokens'],
  ])('of the deployment %j holds where the spec %j names none of that kind', (limits, spec, steps, reason) => {
    const usage = () => ({ prompt_tokens: 7, completion_tokens: 3, cost: 2 });
    const deployment = { models: { main: 'test/model' }, limits };
    const runner = new Runner(scripted([calls('c1:read')], { usage }), new Journal(), { deployment });
    const { journal } = runner;
    const grant = { agent_turn_id: 'g', generation: 1 };
    journal.put('session/configured', { agent_id: 'a', generation: 1, spec });
    journal.put('input/queued', { input_id: 'g', text: 'go', wake: true, grant });
    expect(runner.run().kind).toBe('rest');
    expect(journal.payloads('step/end')).toHaveLength(steps);
    expect(journal.payloads('turn/end')).toEqual([{ turn_id: 'g', status: 'failed', reason }]);
  });

  it('that is spent opens no step in the next turn either, and consumes its input', () => {
    const usage = () => ({ prompt_tokens: 7, completion_tokens: 3 });
    const deployment = { models: { main: 'test/model' }, limits: { tokens: 10 } };
    const runner = new Runner(scripted([says('x')], { usage }), new Journal(), { deployment });
    const { journal } = runner;
    journal.put('input/queued', { input_id: 'i1', text: 'one', wake: true });
    runner.run();
    journal.put('input/queued', { input_id: 'i2', text: 'two', wake: true });
    expect(runner.run().kind).toBe('rest');
    expect(journal.payloads('turn/end').map(({ status }) => status)).toEqual(['completed', 'failed']);
    expect(journal.payloads('step/start')).toHaveLength(1);
  });
});
