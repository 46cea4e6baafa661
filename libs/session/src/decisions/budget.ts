import { totalSpend } from '../folds/spend.js';
import type { OpenTurn, SessionState } from '../folds/state.js';
import { appendDecision, propose, refuse } from './append.js';
import { BUDGET_CONDITION, EXECUTE_CONDITION } from './conditions.js';
import type { AppendDecision, Refusal } from './types.js';

/** `turn/end.reason` of a turn that ran out of money. */
export const BUDGET_REASON = 'budget';

/** What the open turn has spent and reserved, in US dollars. */
export function committed({ budget }: OpenTurn): number {
  const reserved = Object.values(budget.reserved).reduce((sum, amount) => sum + amount, 0);
  // Steps report what a settlement may report too: the higher of the two is what was spent.
  return Math.max(budget.spent, budget.settled) + reserved;
}

/** Why nothing more may be spent here (the session's limits, the turn's allowance), or null. */
export function exhausted(state: SessionState): string | null {
  const limits = state.configuration?.spec.limits;
  const total = totalSpend(state.spend);
  if (limits?.cost !== undefined && total.cost >= limits.cost) {
    return `the session has spent ${total.cost} of ${limits.cost} US dollars`;
  }
  const tokens = total.prompt_tokens + total.completion_tokens;
  if (limits?.tokens !== undefined && tokens >= limits.tokens) {
    return `the session has used ${tokens} of ${limits.tokens} tokens`;
  }
  const allowance = state.turn?.grant?.allowance;
  if (state.turn !== null && allowance !== undefined && committed(state.turn) >= allowance) {
    return `the turn has spent or reserved ${committed(state.turn)} of ${allowance} US dollars`;
  }
  return null;
}

/** Reserves money before a model call; a reservation beyond the grant's allowance ends the turn. */
export function decideReservation(
  state: SessionState,
  { purpose, amount }: { readonly purpose: string; readonly amount: number },
): AppendDecision | Refusal {
  const { turn } = state;
  if (turn === null) return refuse('nothing_open', 'no turn is open that could spend');
  const allowance = turn.grant?.allowance;
  if (allowance === undefined || committed(turn) + amount <= allowance) {
    return appendDecision(state, [propose('budget/reserved', { purpose, amount })], BUDGET_CONDITION);
  }
  if (turn.step !== null || turn.calls.some((call) => !call.answered)) {
    return refuse('not_expected', 'a step is open: reserve before a step is claimed');
  }
  const end = propose('turn/end', { turn_id: turn.turn_id, status: 'failed', reason: BUDGET_REASON });
  return appendDecision(state, [end], [...EXECUTE_CONDITION, ...BUDGET_CONDITION]);
}
