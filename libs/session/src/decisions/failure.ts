import type { Usage } from '@longrein/events';
import type { SessionState } from '../folds/state.js';
import { appendDecision, appendTo, fitting, propose, refuse } from './append.js';
import { EXECUTE_CONDITION, OUTCOME_CONDITION, RESUME_CONDITION } from './conditions.js';
import { cancelledCall, failedCall, settle } from './settle.js';
import type { FailureDecision, Refusal } from './types.js';

/**
 * An exception left the turn. A turn that was never resumed ends `failed`, its owed calls answered. A resumed one
 * stays open and stalls until the next stimulus: what it owes must not be stranded by an outage. Where a cancel
 * stands, the failure is the step boundary that honours it.
 */
export function decideFailure(
  state: SessionState,
  { reason, usage }: { readonly reason: string; readonly usage?: Usage },
): FailureDecision | Refusal {
  const { turn } = state;
  if (turn === null) return refuse('nothing_open', 'no turn is open that could fail');
  const said = reason.slice(0, 4096);
  const { cancel } = turn;
  if (cancel === null && Object.values(turn.resumes).some((count) => count > 0)) {
    const stalled = propose('turn/stalled', { turn_id: turn.turn_id, epoch: turn.epoch, reason: said });
    return { ...appendDecision(state, [stalled], RESUME_CONDITION), closes: true };
  }
  const { events } = settle(state, {
    status: cancel === null ? 'failed' : 'cancelled',
    reason: cancel === null ? said : cancel.reason,
    unfinished: cancel === null ? failedCall : cancelledCall,
    running: new Set(),
    awaitReply: false,
    usage,
  });
  const now = fitting(events);
  const closes = now.length === events.length && events.at(-1)?.type === 'turn/end';
  return { kind: 'append', append: appendTo(state, now, [...EXECUTE_CONDITION, ...OUTCOME_CONDITION]), closes };
}
