import { describe, expect, it } from '@jest/globals';
import type { HistoryItem } from '../port.js';
import { CONTINUE, conversation, INTERRUPTED } from './conversation.js';

const RULES = { callId: /^[a-z0-9_]{1,10}$/, replays: () => true };

const user = (text: string): HistoryItem => ({ role: 'user', text, source: 'user' });
const says = (text: string): HistoryItem => ({ role: 'assistant', parts: [{ type: 'text', text }] });
const calls = (...ids: string[]): HistoryItem => ({
  role: 'assistant',
  parts: ids.map((id) => ({ type: 'tool_call', id, name: 't', args: {} })),
});
const result = (id: string, content: unknown = 'ok', error: string | null = null): HistoryItem => ({
  role: 'tool',
  id,
  content,
  error,
});

/** One line a message: `u:` texts, `a:` texts and call ids, `r:` results. */
function outline(history: readonly HistoryItem[]): string[] {
  return conversation(history, RULES).flatMap((message) => {
    if (message.role === 'user') return [`u: ${message.texts.join(' | ')}`];
    const parts = message.parts.map((part) => (part.type === 'tool_call' ? `#${part.id}` : part.text));
    const results = message.results.map(({ id, text, error }) => `#${id}${error ? '!' : ''} ${text}`);
    return [`a: ${parts.join(' | ')}`, ...(results.length > 0 ? [`r: ${results.join(' | ')}`] : [])];
  });
}

describe('a conversation', () => {
  it.each<[name: string, history: HistoryItem[], expected: string[]]>([
    ['joins consecutive user messages', [user('a'), user('b'), says('c'), user('d')], ['u: a | b', 'a: c', 'u: d']],
    ['drops empty and blank texts', [user(''), user(' \n'), user('a')], ['u: a']],
    ['drops empty answers', [user('a'), says(''), user('b')], ['u: a | b']],
    [
      'puts results in call order after their calls',
      [user('a'), calls('x', 'y'), result('y', '2'), result('x', '1'), says('b'), user('c')],
      ['u: a', 'a: #x | #y', 'r: #x 1 | #y 2', 'a: b', 'u: c'],
    ],
    [
      'brings a result that came late back to its call',
      [user('a'), calls('x'), user('b'), result('x', '1')],
      ['u: a', 'a: #x', 'r: #x 1', 'u: b'],
    ],
    [
      'answers a call that has no result',
      [user('a'), calls('x'), user('b')],
      ['u: a', 'a: #x', `r: #x! ${INTERRUPTED}`, 'u: b'],
    ],
    ['says what a result without a call said', [user('a'), result('x', '1')], ['u: a | Result of tool call x: 1']],
    [
      'asks to go on after an answer that nobody replied to (RES-12)',
      [user('a'), says('b'), says('c')],
      ['u: a', 'a: b', `u: ${CONTINUE}`, 'a: c', `u: ${CONTINUE}`],
    ],
    [
      'gives repeated and unacceptable ids others, and keeps pairs',
      [user('a'), calls('x'), result('x', '1'), calls('x', 'X!'), result('x', '2'), result('X!', '3')],
      ['u: a', 'a: #x', 'r: #x 1', 'a: #call_2 | #call_3', 'r: #call_2 2 | #call_3 3'],
    ],
    [
      'shows contents as text, never empty, errors flagged',
      [
        calls('a', 'b', 'c', 'd'),
        result('a', { n: 1 }),
        result('b', ''),
        result('c', null, 'it broke'),
        result('d', { half: true }, 'late'),
      ],
      ['a: #a | #b | #c | #d', 'r: #a {"n":1} | #b (no output) | #c! it broke | #d! late\n{"half":true}'],
    ],
  ])('%s', (_name, history, expected) => expect(outline(history)).toEqual(expected));

  it('wraps arguments that are no object, and replaces names no provider takes', () => {
    const parts = [
      { type: 'tool_call', id: 'a', name: 'no.such tool', args: '{"cut' },
      { type: 'tool_call', id: 'b', name: 't', args: [1] },
    ] as const;
    const [message] = conversation([{ role: 'assistant', parts }], RULES);
    expect(message).toMatchObject({
      parts: [
        { name: expect.stringMatching(/^no_such_tool_[0-9a-f]{8}$/), args: { malformed_arguments: '{"cut' } },
        { name: 't', args: { malformed_arguments: '[1]' } },
      ],
    });
  });

  it('PRJ-10: refuses a part or a role it does not know', () => {
    const strange = { role: 'assistant', parts: [{ type: 'image', url: 'x' }] } as unknown as HistoryItem;
    expect(() => conversation([strange], RULES)).toThrow('unknown message part: "image"');
    const role = { role: 'robot', text: 'x' } as unknown as HistoryItem;
    expect(() => conversation([role], RULES)).toThrow('unknown message role: "robot"');
  });
});
