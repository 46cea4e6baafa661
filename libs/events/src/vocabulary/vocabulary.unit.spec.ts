import { describe, expect, it } from '@jest/globals';
import { MODEL_VISIBLE, allDefinitions, definitionOf } from './index.js';

describe('the vocabulary', () => {
  it('names each type once', () => {
    for (const kind of ['sessions', 'agents'] as const) {
      const types = allDefinitions(kind).map(({ type }) => type);
      expect(new Set(types).size).toBe(types.length);
    }
  });

  it('says who appends what', () => {
    const table = Object.fromEntries(allDefinitions('sessions').map(({ type, by }) => [type, by.join(' ')]));
    expect(table).toMatchInlineSnapshot(`
     {
       "approval/requested": "loop",
       "approval/resolved": "approvals loop",
       "assistant/chunk": "loop worker",
       "assistant/message": "loop worker",
       "budget/reserved": "loop worker",
       "budget/settled": "loop worker",
       "context/injected": "loop",
       "context/tools": "loop",
       "input/queued": "gateway registry",
       "owner/changed": "log",
       "partition/opened": "log",
       "policy/updated": "policy",
       "provider/session_observed": "worker",
       "session/compacted": "compactor",
       "session/compaction_declined": "compactor",
       "session/configured": "registry",
       "session/created": "log",
       "session/erased": "log",
       "session/forked": "log",
       "session/model_selected": "gateway",
       "session/quarantine_lifted": "operator",
       "session/quarantined": "operator",
       "session/titled": "titler",
       "step/end": "loop worker",
       "step/start": "loop worker",
       "tool/call": "loop worker",
       "tool/finished": "loop",
       "tool/result": "loop worker",
       "tool/started": "loop",
       "turn/cancel_requested": "gateway registry",
       "turn/end": "loop worker",
       "turn/handed_over": "loop",
       "turn/resumed": "loop",
       "turn/stalled": "loop",
       "turn/start": "loop worker",
       "user/message": "loop worker",
       "utility/usage": "titler compactor",
     }
    `);
  });

  it('lets exactly these types into the model’s history', () => {
    expect([...MODEL_VISIBLE].sort()).toEqual([
      'assistant/message',
      'context/injected',
      'session/compacted',
      'tool/result',
      'user/message',
    ]);
  });

  it('has chunks for streamed text only, so that no fold depends on what expires', () => {
    expect(allDefinitions('sessions').filter((d) => d.class === 'chunk')).toEqual([
      definitionOf('sessions', 'assistant/chunk'),
    ]);
  });

  it.each([
    ['input/queued', { input_id: 'i', text: 't', wake: true, extra: 1 }],
    ['input/queued', { input_id: '', text: 't', wake: true }],
    ['step/start', { n: 0, model: 'a/b', request_digest: 'x' }],
    ['step/start', { n: 1, model: 'no-provider', request_digest: 'x' }],
    ['policy/updated', { patterns: Array.from({ length: 129 }, () => 'x') }],
    ['policy/updated', { patterns: ['x'.repeat(257)] }],
    ['session/titled', { title: 'x'.repeat(81) }],
    ['turn/end', { turn_id: 't', status: 'done' }],
    ['assistant/message', { parts: [{ type: 'image', url: 'x' }] }],
  ])('refuses a wrong %s: %j', (type, payload) => {
    expect(definitionOf('sessions', type)!.schema.safeParse(payload).success).toBe(false);
  });

  it('takes the largest policy there may be', () => {
    const patterns = Array.from({ length: 128 }, () => 'x'.repeat(256));
    expect(definitionOf('sessions', 'policy/updated')!.schema.safeParse({ patterns }).success).toBe(true);
  });
});
