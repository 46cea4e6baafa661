import type { Scenario } from '@longrein/loop-app/testing';

const usage = { prompt_tokens: 12, completion_tokens: 7, cost: 0.5 };
const ended = (count = 1) => ({ until: { type: 'turn/end', count } });

/** What is played on every implementation of the log, with the same outcome. */
export const scenarios: readonly Scenario[] = [
  {
    name: 'a plain answer, streamed',
    cases: ['TRN-05'],
    model: [{ text: ['Hello', ', ', 'world'], usage }],
    client: [{ inject: { text: 'hi' } }, ended()],
  },
  {
    name: 'a tool call and an answer, over two turns',
    cases: ['TRN-06', 'PRJ-01'],
    tools: { add: { returns: 3 } },
    model: [
      { text: ['Let me see.'], calls: [{ id: 'c1', name: 'add', args: { a: 1, b: 2 } }], usage },
      { text: ['It is 3.'], usage },
      { text: ['You are welcome.'] },
    ],
    client: [{ inject: { text: '1 + 2?' } }, ended(), { inject: { text: 'thanks' } }, ended(2)],
  },
  {
    name: 'groups of parallel and serial calls',
    cases: ['TLP-12', 'TLP-04'],
    tools: { p: { concurrency: 'parallel' }, s: { fails: 'out of order' } },
    model: [
      {
        calls: [
          { id: 'c1', name: 's', args: { n: 1 } },
          { id: 'c2', name: 'p', args: { n: 2 } },
          { id: 'c3', name: 'nowhere' },
        ],
      },
      { text: ['done'] },
    ],
    client: [{ inject: { text: 'go' } }, ended()],
  },
  {
    name: 'steers before, during and after a turn',
    cases: ['INJ-01', 'INJ-02', 'INJ-03', 'INJ-05', 'INJ-07'],
    tools: { look: { meanwhile: [{ inject: { text: 'hurry', wake: false } }, { inject: { text: 'please' } }] } },
    model: [
      { calls: [{ id: 'c1', name: 'look' }] },
      { text: ['here'], meanwhile: [{ inject: { text: 'one more thing' } }] },
      { text: ['yes'] },
    ],
    client: [{ inject: { text: 'background', wake: false } }, { inject: { text: 'look' } }, ended(2)],
  },
  {
    name: 'a cancel between two serial calls',
    cases: ['CAN-02', 'CAN-07'],
    tools: { stop: { meanwhile: [{ cancel: { reason: 'enough' } }], returns: 'stopped' } },
    model: [
      {
        calls: [
          { id: 'c1', name: 'stop' },
          { id: 'c2', name: 'stop' },
        ],
      },
    ],
    client: [{ inject: { text: 'go' } }, ended()],
  },
  {
    name: 'a hard cancel in the middle of an answer',
    cases: ['CAN-01'],
    model: [{ text: ['I was about to'], hangs: true, meanwhile: [{ cancel: { hard: true } }] }],
    client: [{ inject: { text: 'go' } }, ended()],
  },
  {
    name: 'a provider that fails, and the turn after it',
    cases: ['TRN-11'],
    model: [{ text: ['half a'], fails: 'the provider said no' }, { text: ['better'] }],
    client: [{ inject: { text: 'one' } }, ended(), { inject: { text: 'two' } }, ended(2)],
  },
  {
    name: 'an approval that is granted and one that is denied',
    cases: ['APR-05', 'APR-06', 'APR-07'],
    tools: { risky: { approval: 'always', returns: 'done' } },
    model: [
      { calls: [{ id: 'c1', name: 'risky' }] },
      { calls: [{ id: 'c2', name: 'risky' }] },
      { text: ['as you wish'] },
    ],
    client: [
      { inject: { text: 'go' } },
      { until: { type: 'approval/requested' } },
      { resolve: { call_id: 'c1', verdict: 'approved' } },
      { until: { type: 'approval/requested', count: 2 } },
      { resolve: { call_id: 'c2', verdict: 'denied', reason: 'once is enough' } },
      ended(),
    ],
  },
  {
    name: 'a policy that changes between two calls of one message',
    cases: ['POL-04', 'POL-06'],
    policy: ['first'],
    tools: {
      first: {
        returns: 1,
        meanwhile: [{ append: { service: 'policy', type: 'policy/updated', payload: { patterns: ['second'] } } }],
      },
      second: { returns: 2 },
    },
    model: [
      {
        calls: [
          { id: 'c1', name: 'first' },
          { id: 'c2', name: 'second' },
          { id: 'c3', name: 'first' },
        ],
      },
      { text: ['ok'] },
    ],
    client: [{ inject: { text: 'go' } }, ended()],
  },
  {
    name: 'an agent’s session, where only a grant starts a turn',
    cases: ['INJ-01'],
    model: [{ text: ['at your service'] }],
    client: [
      {
        append: {
          service: 'registry',
          type: 'session/configured',
          payload: { agent_id: 'bot', generation: 1, spec: { system_prompt: 'Be brief.' } },
        },
      },
      { inject: { text: 'nobody asked', wake: true } },
      { inject: { text: 'go', grant: { agent_turn_id: 'at-1', generation: 1 } } },
      ended(),
    ],
  },
  {
    name: 'a crash in the middle of an answer',
    cases: ['RES-02', 'RES-11'],
    model: [{ text: ['I will never'], hangs: true }, { text: ['finished'] }],
    client: [
      { inject: { text: 'go' } },
      { until: { type: 'step/start' } },
      { restart: 'crash' },
      { until: { type: 'turn/resumed' } },
      ended(),
    ],
  },
  {
    name: 'the session’s model is selected between two steps',
    cases: ['CST-05'],
    tools: {
      switch: {
        meanwhile: [
          {
            append: {
              service: 'gateway',
              type: 'session/model_selected',
              payload: { role: 'main', model: 'test/other' },
            },
          },
        ],
      },
    },
    model: [{ calls: [{ id: 'c1', name: 'switch' }] }, { text: ['switched'] }],
    client: [{ inject: { text: 'go' } }, ended()],
  },
];
