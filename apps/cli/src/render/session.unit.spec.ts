import { describe, expect, it } from '@jest/globals';
import type { SessionView } from '../gateway/gateway-client.js';
import { renderSession } from './session.js';

const idle: SessionView = {
  session_id: 's1',
  status: 'idle',
  title: null,
  last_seq: 0,
  turn: null,
  pending_approvals: [],
  inbox: [],
  policy: null,
  usage: { steps: 0, prompt_tokens: 0, completion_tokens: 0, cost: 0 },
  messages: 0,
  agent: null,
};

describe('renderSession', () => {
  it('shows a new session', () => {
    expect(renderSession(idle)).toBe(
      'session   s1\ntitle     -\nstatus    idle\nagent     -\nlast seq  0\nmessages  0\nusage     0 steps, 0 tokens in, 0 out\n',
    );
  });

  it('shows what is going on', () => {
    const text = renderSession({
      ...idle,
      status: 'waiting_approval',
      title: 'Weather\u001b[2J in\nBerlin',
      turn: { turn_id: 't1', start_seq: 3 },
      pending_approvals: [{ call_id: 'c1', name: 'rm' }],
      inbox: [
        { input_id: 'i1', text: 'next', wake: true },
        { input_id: 'i2', text: 'aside', wake: false },
      ],
      policy: { patterns: ['read_*'], source: 'updated' },
      usage: { steps: 2, prompt_tokens: 100, completion_tokens: 20, cost: 0.0123 },
      agent: { agent_id: 'helper', generation: 2 },
    });
    expect(text).toContain('title     Weather[2J in ⏎ Berlin\n');
    expect(text).toContain('status    waiting_approval (turn t1)\n');
    expect(text).toContain('agent     helper, generation 2\n');
    expect(text).toContain('usage     2 steps, 100 tokens in, 20 out, $0.0123\n');
    expect(text).toContain(
      'policy    read_* (updated)\napproval  rm (call c1)\nqueued    next\nqueued    aside (for the next step)\n',
    );
  });
});
