import { startableInput } from '../folds/selectors.js';
import type { OpenTurn, SessionState } from '../folds/state.js';
import { appendDecision, propose } from './append.js';
import { decideClaim } from './claim.js';
import { CALL_CONDITION, EXECUTE_CONDITION, OUTCOME_CONDITION } from './conditions.js';
import { callsAction, isLogged, missingCalls, owedCalls } from './owed-calls.js';
import { resultEvent } from './outcome.js';
import { cancelledCall, settle, stepEnd } from './settle.js';
import { closeTurn, starting } from './start.js';
import type { Action, TurnContext } from './types.js';

const NONE_RUNNING: ReadonlySet<number> = new Set();

/**
 * What the session's log asks its loop to do now. A function of the log and of what the caller knows; ask again after
 * every append, every outcome and every fact that came in. An open turn that this process did not run must be taken up
 * by `decideResume` first.
 */
export function nextAction(state: SessionState, context: TurnContext): Action {
  const { turn } = state;
  if (turn === null) return startNext(state, context);
  if (turn.cancel !== null) return cancelNext(state, turn, context);
  if (turn.stalled !== null) return { kind: 'stalled', reason: turn.stalled.reason };
  return callsNext(state, turn, context) ?? stepNext(state, turn, context);
}

function startNext(state: SessionState, context: TurnContext): Action {
  const input = startableInput(state);
  if (input === undefined) return { kind: 'rest' };
  const begin = starting(input, context);
  const { revoked } = input;
  if (revoked !== undefined) return closeTurn(state, begin, context, { status: 'cancelled', reason: revoked.reason });
  return decideClaim(state, context, begin);
}

function cancelNext(state: SessionState, turn: OpenTurn, context: TurnContext): Action {
  const hard = turn.cancel?.hard ?? false;
  const running = hard ? NONE_RUNNING : (context.running ?? NONE_RUNNING);
  const { events, waitingFor } = settle(state, {
    status: 'cancelled',
    reason: turn.cancel?.reason,
    unfinished: cancelledCall,
    running,
    awaitReply: !hard,
    usage: context.usage,
  });
  if (events.length > 0) return appendDecision(state, events, [...EXECUTE_CONDITION, ...OUTCOME_CONDITION]);
  return waitingFor === 'reply' ? { kind: 'await_model' } : { kind: 'await_calls', running: [...running], parked: [] };
}

/** Calls not logged, outcomes not delivered, calls not finished: in this order. Null when nothing is owed. */
function callsNext(state: SessionState, turn: OpenTurn, context: TurnContext): Action | null {
  const missing = missingCalls(turn);
  if (missing.length > 0) return appendDecision(state, missing, CALL_CONDITION);
  const first = owedCalls(turn).find(isLogged);
  if (first === undefined) return null;
  if (first.finished !== null) {
    return appendDecision(state, [resultEvent(first, first.finished)], OUTCOME_CONDITION);
  }
  return callsAction(turn, context.traits, context.running ?? NONE_RUNNING);
}

function stepNext(state: SessionState, turn: OpenTurn, context: TurnContext): Action {
  if (turn.step !== null && !turn.step.replied) return { kind: 'await_model' };
  const ended = turn.step === null ? [] : [stepEnd(turn.step, context.usage)];
  const completed = turn.concluded ? [propose('turn/end', { turn_id: turn.turn_id, status: 'completed' })] : [];
  const events = [...ended, ...completed];
  return events.length > 0
    ? appendDecision(state, events, [...EXECUTE_CONDITION, 'step/end', 'turn/end'])
    : decideClaim(state, context, null);
}
