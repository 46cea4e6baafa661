import type { SessionState } from '@longrein/session';
import { createHash } from 'node:crypto';

/** An event about to be appended. */
interface Proposed {
  readonly type: string;
  readonly payload: unknown;
}

/**
 * Ids for the events of one append, derived from what causes each of them: its turn, step, call or input. An append
 * whose answer got lost and that is decided again therefore carries the same ids, and the log stores it once, also
 * when the first try arrives late. The epoch is a part of them: what a later owner decides about the same cause is
 * another append, or a superseded owner would be told that its own was stored, and would execute the call.
 */
export function eventIds(sessionId: string, state: SessionState, events: readonly Proposed[], epoch: number): string[] {
  let turnId = state.turn?.turn_id ?? null;
  let n = state.turn?.n ?? 0;
  let call = state.turn?.calls.filter(({ call_seq }) => call_seq !== null).length ?? 0;
  const ids: string[] = [];
  for (const { type, payload } of events) {
    const fields = payload as Record<string, unknown>;
    if (type === 'turn/start') [turnId, n] = [String(fields['turn_id']), 0];
    if (type === 'step/start') n = Number(fields['n']);
    if (type === 'assistant/message') call = 0;
    if (type === 'tool/call') call += 1;
    ids.push(digest([sessionId, epoch, type, turnId, ...cause(state, type, fields, n, call)]));
  }
  return ids;
}

/** What tells an event from every other one of its type in the same turn. */
function cause(state: SessionState, type: string, fields: Record<string, unknown>, n: number, call: number): unknown[] {
  switch (type) {
    case 'user/message':
    case 'context/injected':
      return [fields['input_id']];
    case 'tool/call':
      return [n, call];
    case 'tool/started':
      return [fields['call_seq'], fields['attempt']];
    case 'tool/finished':
    case 'tool/result':
      return [fields['call_seq']];
    case 'approval/requested':
      return [fields['call_seq'], state.turn?.approvals.length];
    case 'approval/resolved':
      return [fields['request_seq']];
    case 'turn/start':
    case 'turn/end':
      return [];
    case 'turn/resumed':
    case 'turn/handed_over':
    case 'turn/stalled':
      return [resumes(state)];
    default:
      return [n, fields['purpose'] ?? null];
  }
}

function resumes({ turn }: SessionState): number {
  return turn ? Object.values(turn.resumes).reduce((sum, count) => sum + count, 0) : 0;
}

function digest(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 22);
}
