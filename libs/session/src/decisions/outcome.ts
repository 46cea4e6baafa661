import { canonicalJson } from '../canonical.js';
import type { CallOutcome, OpenTurn, SessionState } from '../folds/state.js';
import { appendDecision, propose, refuse } from './append.js';
import { OUTCOME_CONDITION } from './conditions.js';
import { isLogged, owedCalls } from './owed-calls.js';
import type { AppendDecision, OwedCall, ProposedEvent, Refusal } from './types.js';

/** An outcome that is only an error. */
export function errorOutcome(error: string): CallOutcome {
  return { content: null, error };
}

/** The `tool/result` of a call. */
export function resultEvent(call: OwedCall, { content, error }: CallOutcome): ProposedEvent {
  return propose('tool/result', { id: call.id, call_seq: call.call_seq, content, error });
}

/** How an outcome enters the log: as the result when it is this call's turn, else kept as `tool/finished`. */
export function outcomeEvent(turn: OpenTurn, call: OwedCall, outcome: CallOutcome): ProposedEvent {
  const first = owedCalls(turn)[0];
  if (first?.call_seq === call.call_seq) return resultEvent(call, outcome);
  return propose('tool/finished', { call_seq: call.call_seq, call_id: call.id, ...outcome });
}

/** The call with this seq that still lacks an outcome, with its turn, or why there is none. */
export function findOwed(
  { turn }: SessionState,
  callSeq: number,
): { readonly turn: OpenTurn; readonly call: OwedCall } | Refusal {
  if (turn === null) return refuse('nothing_open', `no turn is open that could owe call ${callSeq}`);
  const call = turn.calls.filter(isLogged).find((candidate) => candidate.call_seq === callSeq);
  if (call === undefined) return refuse('unknown_call', `the open step has no call with call_seq ${callSeq}`);
  if (call.answered || call.finished !== null) {
    return refuse('already_answered', `call ${callSeq} (${call.name}) has its outcome: drop this one`);
  }
  return { turn, call };
}

/** A call came back: its result, in call order. What has no JSON form becomes an error result. */
export function decideOutcome(state: SessionState, callSeq: number, outcome: CallOutcome): AppendDecision | Refusal {
  const owed = findOwed(state, callSeq);
  if ('kind' in owed) return owed;
  return appendDecision(state, [outcomeEvent(owed.turn, owed.call, storable(outcome))], OUTCOME_CONDITION);
}

function storable({ content, error }: CallOutcome): CallOutcome {
  try {
    canonicalJson(content ?? null);
    return { content: content ?? null, error };
  } catch (cause) {
    return errorOutcome(
      `the tool's result cannot be stored: ${cause instanceof Error ? cause.message : String(cause)}`,
    );
  }
}
