import { describe, expect, it } from '@jest/globals';
import type { Usage } from '@longrein/events';
import { Journal } from '../testing/index.js';
import { fold } from './evolve.js';
import * as select from './selectors.js';

describe('the bill', () => {
  const step = (journal: Journal, model: string, usage?: Usage) => {
    journal.put('step/start', { n: 1, model, request_digest: 'd' });
    journal.put('step/end', { n: 1, ...(usage && { usage }) });
  };

  it('starts at zero and counts every step, with and without usage, below a compaction too (CST-01, CST-03, CST-04)', () => {
    const journal = new Journal();
    expect(select.usage(journal.state)).toEqual({ prompt_tokens: 0, completion_tokens: 0, cost: 0, steps: 0 });
    journal.put('turn/start', { turn_id: 't', agent: 'a', epoch: 1 });
    step(journal, 'x/1', { prompt_tokens: 10, completion_tokens: 2, cost: 0.5 });
    step(journal, 'x/2');
    journal.put('turn/end', { turn_id: 't', status: 'completed' });
    journal.put('session/compacted', { upto_seq: 6, summary: 's' });
    expect(select.usage(journal.state)).toEqual({ prompt_tokens: 10, completion_tokens: 2, cost: 0.5, steps: 2 });
  });

  it('has utility requests apart, and everything by model and in total (CST-05, CST-06)', () => {
    const journal = new Journal();
    journal.put('turn/start', { turn_id: 't', agent: 'a', epoch: 1 });
    step(journal, 'x/1', { prompt_tokens: 10, completion_tokens: 2, cached_tokens: 4, cost: 0.5 });
    const usage = { prompt_tokens: 3, completion_tokens: 1, cost: 0.25 };
    journal.put('utility/usage', { purpose: 'title', model: 'x/2', usage });
    journal.put('utility/usage', { purpose: 'compaction', model: 'x/1', usage });
    expect(select.usage(journal.state).steps).toBe(1);
    expect(select.usage(journal.state).cost).toBe(0.5);
    expect(select.spend(journal.state)).toMatchObject({
      steps: { requests: 1, cached_tokens: 4, cost: 0.5 },
      utility: { title: { requests: 1, cost: 0.25 }, compaction: { requests: 1, cost: 0.25 } },
      by_model: { 'x/1': { requests: 2, cost: 0.75 }, 'x/2': { requests: 1, cost: 0.25 } },
      total: { requests: 3, prompt_tokens: 16, completion_tokens: 4, cached_tokens: 4, cost: 1 },
    });
  });
});

describe('what one event sets', () => {
  it('is the newest title, null without one (TTL-05, TTL-06)', () => {
    const journal = new Journal();
    expect(select.title(journal.state)).toBeNull();
    for (const title of ['one', 'two']) journal.put('session/titled', { title });
    expect(select.title(fold(journal.events))).toBe('two');
  });

  it('is the newest policy; the floor of the spec until the first, and an empty one is one (POL-07, POL-13)', () => {
    const journal = new Journal();
    expect(select.policy(journal.state)).toBeNull();
    journal.put('session/configured', { agent_id: 'a', generation: 1, spec: { policy: ['read'] } });
    expect(select.policy(journal.state)).toEqual({ patterns: ['read'], source: 'spec', seq: 1 });
    journal.put('policy/updated', { patterns: ['*'] });
    journal.put('policy/updated', { patterns: [] });
    journal.put('session/configured', { agent_id: 'a', generation: 2, spec: { policy: ['*'] } });
    expect(select.policy(journal.state)).toEqual({ patterns: [], source: 'updated', seq: 3 });
  });

  it('is the model of a role: the session’s, else the spec’s, else the deployment’s', () => {
    const journal = new Journal();
    const main = () => select.modelFor(journal.state, 'main', { main: 'd/1' });
    expect(select.modelFor(journal.state, 'main')).toBeUndefined();
    expect(main()).toBe('d/1');
    journal.put('session/model_selected', { role: 'titler', model: 's/9' });
    journal.put('session/configured', { agent_id: 'a', generation: 1, spec: { roles: { main: 'a/1' } } });
    expect(main()).toBe('a/1');
    journal.put('session/model_selected', { role: 'main', model: 's/1' });
    expect(main()).toBe('s/1');
    expect(select.spec(journal.state)?.roles).toEqual({ main: 'a/1' });
  });

  it('is a quarantine, which shows before everything else, until it is lifted; a fork does not inherit it', () => {
    const journal = new Journal();
    journal.put('turn/start', { turn_id: 't', agent: 'a', epoch: 1 });
    journal.put('turn/cancel_requested', { turn_id: 't' });
    journal.put('session/quarantined', { reason: 'eats memory', by: 'ann' });
    expect(select.status(journal.state)).toBe('quarantined');
    expect(journal.state.quarantine).toEqual({ reason: 'eats memory', by: 'ann', seq: 3 });
    const parent = journal.events;
    journal.put('session/quarantine_lifted', {});
    expect(select.status(journal.state)).toBe('stopping');
    const forked = { ...parent[0]!, seq: 4, type: 'session/forked', payload: { from: 's', boundary: 3 } };
    expect(fold([...parent.slice(0, 4), forked]).quarantine).toBeNull();
  });
});
