import type { SessionState } from '../folds/state.js';
import { appendDecision, propose, refuse } from './append.js';
import { REPLY_CONDITION } from './conditions.js';
import type { AppendDecision, Refusal, Reply } from './types.js';

/**
 * The model answered: its message and the calls it asks for, in one append as far as they fit; `nextAction` logs the
 * rest. The turn's cancel, if any, is honoured afterwards: a reply that was paid for is kept.
 */
export function decideReply(state: SessionState, parts: Reply): AppendDecision | Refusal {
  const step = state.turn?.step;
  if (!step || step.replied) return refuse('not_expected', 'no step is open that waits for a reply: drop this one');
  const calls = parts.flatMap((part) =>
    part.type === 'tool_call' ? [propose('tool/call', { id: part.id, name: part.name, args: part.args })] : [],
  );
  return appendDecision(state, [propose('assistant/message', { parts: [...parts] }), ...calls], REPLY_CONDITION);
}
