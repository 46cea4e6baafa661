import { describe, expect, it } from '@jest/globals';
import type { EventEnvelope } from '@longrein/events';
import { EventRenderer } from './event-renderer.js';

let next = 0;

function event(type: string, payload: unknown): EventEnvelope {
  return { id: `e${next}`, session_id: 's', seq: next++, at: '2026-11-30T00:00:00.000000Z', type, payload, v: 1 };
}

function render(...events: [string, unknown][]): string {
  const renderer = new EventRenderer();
  return events.map(([type, payload]) => renderer.render(event(type, payload))).join('') + renderer.end();
}

const text = (content: string): [string, unknown] => [
  'assistant/message',
  {
    parts: [
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: content },
    ],
  },
];

describe('EventRenderer', () => {
  it('shows a turn with streamed text, a tool and its end', () => {
    const output = render(
      ['session/created', {}],
      ['input/queued', { input_id: 'i', text: 'weather?', wake: true }],
      ['turn/start', { turn_id: 't', agent: 's', epoch: 1 }],
      ['step/start', { n: 1, model: 'a/b', request_digest: 'd' }],
      ['user/message', { text: 'weather?', input_id: 'i' }],
      ['assistant/chunk', { text: 'Let me ' }],
      ['assistant/chunk', { text: 'look.' }],
      ['assistant/message', { parts: [{ type: 'text', text: 'Let me look.' }] }],
      ['tool/call', { id: 'c', name: 'weather', args: { city: 'Berlin' } }],
      ['tool/started', { call_seq: 8, call_id: 'c', attempt: 1, epoch: 1 }],
      ['tool/result', { id: 'c', call_seq: 8, content: { degrees: 3 }, error: null }],
      ['step/end', { n: 1 }],
      ['step/start', { n: 2, model: 'a/b', request_digest: 'd' }],
      ['context/injected', { text: 'in Celsius', input_id: 'j' }],
      ['assistant/chunk', { text: '3 °C' }],
      text('3 °C'),
      ['turn/end', { turn_id: 't', status: 'completed' }],
    );
    expect(output).toBe(
      [
        '# session s',
        '· queued: weather?',
        '',
        'you> weather?',
        'Let me look.',
        '→ weather {"city":"Berlin"}',
        '← {"degrees":3}',
        'you, in between> in Celsius',
        '3 °C',
        '-- turn completed',
        '',
      ].join('\n'),
    );
  });

  it('shows a message whose chunks have expired, and does not repeat one that was streamed', () => {
    expect(render(['step/start', { n: 1, model: 'a/b', request_digest: 'd' }], text('whole'))).toBe('whole\n');
    expect(render(['assistant/chunk', { text: 'ole' }], text('whole'), text('next'))).toBe('ole\nnext\n');
    expect(
      render(
        ['assistant/chunk', { text: 'torn' }],
        ['step/start', { n: 2, model: 'a/b', request_digest: 'd' }],
        text('again'),
      ),
    ).toBe('tornagain\n');
  });

  it('shows failures and who decided', () => {
    expect(
      render(
        ['tool/result', { id: 'c', call_seq: 1, content: null, error: 'no such\ncity' }],
        ['approval/requested', { call_seq: 1, call_id: 'c', name: 'rm', args: { path: '/' } }],
        ['approval/resolved', { call_id: 'c', request_seq: 2, verdict: 'denied', reason: 'no', by: 'eve' }],
        ['turn/cancel_requested', { turn_id: 't', reason: 'enough' }],
        ['turn/end', { turn_id: 't', status: 'failed', reason: 'budget' }],
      ),
    ).toBe(
      '← error: no such ⏎ city\n? rm {"path":"/"} waits for approval (call c)\n? denied by eve: no\n' +
        '! cancel requested: enough\n-- turn failed: budget\n',
    );
  });

  it('carries unknown types through, shortened', () => {
    expect(render(['future/thing', { a: 'x'.repeat(500) }])).toMatch(/^· future\/thing \{"a":"x{200,240}…\n$/);
  });

  it('never gives a terminal control characters, whoever wrote them', () => {
    const evil = '\u001b]0;owned\u0007\u001b[2J\r\u009b31mred\u0000';
    const output = render(
      ['user/message', { text: evil, input_id: 'i' }],
      ['assistant/chunk', { text: evil }],
      ['tool/call', { id: 'c', name: evil, args: { [evil]: evil } }],
      ['tool/result', { id: 'c', call_seq: 1, content: evil, error: null }],
      ['turn/end', { turn_id: evil, status: 'failed', reason: evil }],
      ['session/titled', { title: evil }],
      ['unknown\u001b[2J', evil],
    );
    expect(output).toContain('owned');
    expect(output.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  });
});
