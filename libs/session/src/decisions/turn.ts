import { isConfigured } from '../folds/selectors.js';
import type { SessionState } from '../folds/state.js';
import { refuse } from './append.js';
import { decideClaim } from './claim.js';
import { closeTurn, starting } from './start.js';
import type { Action, AppendDecision, Refusal, TurnContext } from './types.js';

/** What somebody who asks for a turn says. */
export interface TurnRequest {
  /** The queued input to start it for; absent: whatever is queued rides along, nothing makes an empty turn. */
  readonly input_id?: string;
  /** The turn that the caller is running now, if any. */
  readonly running_turn_id?: string;
}

/** Why no turn can start now, whoever asks: one is open. */
export function refuseSecondTurn(state: SessionState, runningTurnId?: string): Refusal | null {
  const { turn } = state;
  if (turn === null) return null;
  return turn.turn_id === runningTurnId
    ? refuse('turn_already_running', `turn ${turn.turn_id} is running: queue the text and it rides the next step`)
    : refuse('turn_open_in_log', `turn ${turn.turn_id} is open in the log: queue the text and resume that turn`);
}

/** Starts a turn on request. In a session that belongs to an agent only a granted input starts one. */
export function decideTurn(state: SessionState, context: TurnContext, request: TurnRequest = {}): Action | Refusal {
  const second = refuseSecondTurn(state, request.running_turn_id);
  if (second !== null) return second;
  const input = state.inbox.find((candidate) => candidate.input_id === request.input_id) ?? null;
  if (request.input_id !== undefined && input === null) {
    return refuse('unknown_input', `input ${request.input_id} is not queued here (any more)`);
  }
  if (isConfigured(state) && input?.grant === undefined) {
    return refuse('not_granted', `agent ${state.configuration?.agent_id} owns this session: ask its registry`);
  }
  const begin = starting(input, context);
  const revoked = input?.revoked;
  if (revoked !== undefined) return closeTurn(state, begin, context, { status: 'cancelled', reason: revoked.reason });
  return decideClaim(state, context, begin);
}

/**
 * A turn that cannot begin, because something outside the log is wrong (the running fold differs from a fresh one, a
 * hook refuses the session): starts and ends it at once, which consumes its input.
 */
export function decideTurnRefused(
  state: SessionState,
  context: TurnContext,
  close: { readonly input_id: string; readonly status: 'failed' | 'rejected'; readonly reason: string },
): AppendDecision | Refusal {
  const second = refuseSecondTurn(state);
  if (second !== null) return second;
  const input = state.inbox.find((candidate) => candidate.input_id === close.input_id);
  if (input === undefined) return refuse('unknown_input', `input ${close.input_id} is not queued here (any more)`);
  return closeTurn(state, starting(input, context), context, close);
}
