import type { TurnStatus, Usage } from '@longrein/events';
import { pendingApprovals } from '../folds/selectors.js';
import type { CallOutcome, OpenCall, SessionState } from '../folds/state.js';
import { propose } from './append.js';
import { isLogged, missingCalls, owedCalls } from './owed-calls.js';
import { errorOutcome, resultEvent } from './outcome.js';
import type { ProposedEvent } from './types.js';

/** How a turn is brought to its end before its work is done. */
export interface Settlement {
  readonly status: TurnStatus;
  readonly reason?: string | undefined;
  /** Outcome of a call that never finished. */
  readonly unfinished: (call: OpenCall) => CallOutcome;
  /** Calls to wait for; those executing elsewhere or no more get `unfinished`. */
  readonly running: ReadonlySet<number>;
  /** Wait for a model request under way. */
  readonly awaitReply: boolean;
  readonly usage?: Usage | undefined;
}

/** Events that settle the turn, as far as it can be now, and what has to come in before the rest. */
export interface SettlementPlan {
  readonly events: readonly ProposedEvent[];
  readonly waitingFor: 'calls' | 'reply' | null;
}

/** Result of a call that a cancel kept from finishing. */
export function cancelledCall(call: OpenCall): CallOutcome {
  return errorOutcome(
    call.started === null
      ? 'cancelled before execution'
      : 'interrupted: the turn was cancelled after this call had started; its outcome is unknown',
  );
}

/** Result of a call that the failure of its turn kept from finishing. */
export function failedCall(call: OpenCall): CallOutcome {
  return errorOutcome(
    call.started === null
      ? 'not executed: the turn failed'
      : 'interrupted: the turn failed after this call had started; its outcome is unknown',
  );
}

/**
 * Denies every standing request, gives every owed call its result in call order, closes the step and ends the turn.
 * Stops before what has to be waited for.
 */
export function settle(state: SessionState, settlement: Settlement): SettlementPlan {
  const { turn } = state;
  if (turn === null) return { events: [], waitingFor: null };
  const events: ProposedEvent[] = pendingApprovals(state).map(({ call_id, request_seq }) =>
    propose('approval/resolved', {
      call_id,
      request_seq,
      verdict: 'denied',
      reason: `the turn was ${settlement.status}${settlement.reason ? `: ${settlement.reason}` : ''}`.slice(0, 4096),
      by: 'loop',
    }),
  );
  const missing = missingCalls(turn);
  // Results name the seq of their call: first the calls, then, decided again, their results.
  if (missing.length > 0) return { events: [...events, ...missing], waitingFor: null };

  for (const call of owedCalls(turn).filter(isLogged)) {
    if (call.finished === null && settlement.running.has(call.call_seq)) return { events, waitingFor: 'calls' };
    events.push(resultEvent(call, call.finished ?? settlement.unfinished(call)));
  }
  if (turn.step !== null && !turn.step.replied && settlement.awaitReply) return { events, waitingFor: 'reply' };
  if (turn.step?.replied) events.push(stepEnd(turn.step, settlement.usage));
  const { status, reason } = settlement;
  const { turn_id } = turn;
  events.push(propose('turn/end', reason === undefined ? { turn_id, status } : { turn_id, status, reason }));
  return { events, waitingFor: null };
}

/** The end of a step, with its usage where that is known. */
export function stepEnd(step: { readonly n: number; readonly usage_lost: boolean }, usage?: Usage): ProposedEvent {
  return propose('step/end', usage === undefined || step.usage_lost ? { n: step.n } : { n: step.n, usage });
}
