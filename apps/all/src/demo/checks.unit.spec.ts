import { describe, expect, it } from '@jest/globals';
import type { EventEnvelope } from '@longrein/events';
import { DemoFailed, requireSame, requireWhole } from './checks.js';

function session(...types: (string | [string, object])[]): EventEnvelope[] {
  return types.map((entry, seq) => {
    const [type, payload] = typeof entry === 'string' ? [entry, {}] : entry;
    return { id: `e${seq}`, session_id: 's', seq, at: '2026-11-30T00:00:00.000000Z', type, payload, v: 1 };
  });
}

const completed: [string, object] = ['turn/end', { status: 'completed' }];
const answered: [string, object] = ['tool/result', { error: null }];
const story = [completed, answered, 'assistant/chunk', 'assistant/chunk', completed] as const;

describe('requireSame', () => {
  const stored = session('session/created', 'turn/start', 'turn/end');

  it('accepts the log itself', () => {
    expect(() => requireSame(JSON.parse(JSON.stringify(stored)) as EventEnvelope[], stored)).not.toThrow();
  });

  it.each([
    ['a gap', [stored[0]!, stored[2]!]],
    ['a missing end', stored.slice(0, 2)],
    ['a duplicate', [stored[0]!, stored[0]!, stored[1]!, stored[2]!]],
    ['an event too many', [...stored, { ...stored[2]!, seq: 3 }]],
    ['another payload', [stored[0]!, { ...stored[1]!, payload: { turn_id: 'x' } }, stored[2]!]],
  ])('refuses %s', (_, seen) => {
    expect(() => requireSame(seen, stored)).toThrow(DemoFailed);
  });
});

describe('requireWhole', () => {
  it('accepts the story', () => {
    expect(() => requireWhole(session(...story), 3)).not.toThrow();
  });

  it.each([
    ['a turn that failed', session(completed, answered, 'assistant/chunk', ['turn/end', { status: 'failed' }]), 2],
    ['no tool call', session(completed, 'assistant/chunk', completed), 1],
    ['a tool that failed', session(completed, ['tool/result', { error: 'x' }], 'assistant/chunk', completed), 2],
    ['an answer that was over', session(...story), 4],
  ])('refuses %s', (_, seen, held) => {
    expect(() => requireWhole(seen, held)).toThrow(DemoFailed);
  });
});
