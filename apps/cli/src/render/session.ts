import type { SessionView } from '../gateway/gateway-client.js';
import { oneLine } from './text.js';

/** A session in lines for people. */
export function renderSession(view: SessionView): string {
  const rows: [string, string][] = [
    ['session', view.session_id],
    ['title', view.title === null ? '-' : oneLine(view.title)],
    ['status', view.turn ? `${view.status} (turn ${oneLine(view.turn.turn_id)})` : view.status],
    ['agent', view.agent ? `${oneLine(view.agent.agent_id)}, generation ${view.agent.generation}` : '-'],
    ['last seq', String(view.last_seq)],
    ['messages', String(view.messages)],
    ['usage', usage(view.usage)],
  ];
  if (view.policy)
    rows.push(['policy', `${oneLine(view.policy.patterns.join(' ') || 'no tools')} (${view.policy.source})`]);
  for (const { call_id, name } of view.pending_approvals)
    rows.push(['approval', `${oneLine(name)} (call ${oneLine(call_id)})`]);
  for (const { text, wake } of view.inbox)
    rows.push(['queued', `${oneLine(text)}${wake ? '' : ' (for the next step)'}`]);
  return rows.map(([name, value]) => `${name.padEnd(10)}${value}\n`).join('');
}

function usage(totals: SessionView['usage']): string {
  const { steps = 0, prompt_tokens = 0, completion_tokens = 0, cost } = totals;
  const price = cost ? `, $${cost.toFixed(4)}` : '';
  return `${steps} steps, ${prompt_tokens} tokens in, ${completion_tokens} out${price}`;
}
