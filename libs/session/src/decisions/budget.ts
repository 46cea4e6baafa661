import { totalSpend } from '../folds/spend.js';
import type { OpenTurn, SessionState } from '../folds/state.js';
import { appendDecision, propose, refuse } from './append.js';
import { BUDGET_CONDITION, EXECUTE_CONDITION } from './conditions.js';
import type { AppendDecision, Deployment, Refusal } from './types.js';

/** First word of `turn/end.reason` where a turn ran out of money or tokens. */
export const BUDGET_REASON = 'budget';

/** What the open turn has spent and reserved, in US dollars. */
export function committed({ budget }: OpenTurn): number {
  const reserved = Object.values(budget.reserved).reduce((sum, amount) => sum + amount, 0);
  // Steps report what a settlement may report too: the higher of the two is what was spent.
  return Math.max(budget.spent, budget.settled) + reserved;
}

/** Why nothing more may be spent here (the session's limits or the deployment's, the turn's allowance), or null. */
export function exhausted(state: SessionState, deployment: Deployment = {}): string | null {
  const limits = { ...deployment.limits, ...state.configuration?.spec.limits };
  const total = totalSpend(state.spend);
  if (limits?.cost !== undefined && total.cost >= limits.cost) {
    return `the session has spent ${dollars(total.cost)} of ${limits.cost} US dollars`;
  }
  const tokens = total.prompt_tokens + total.completion_tokens;
  if (limits?.tokens !== undefined && tokens >= limits.tokens) {
    return `the session has used ${tokens} of ${limits.tokens} tokens`;
  }
  const allowance = state.turn?.grant?.allowance;
  if (state.turn !== null && allowance !== undefined && committed(state.turn) >= allowance) {
    return `the turn has spent or reserved ${dollars(committed(state.turn))} of ${allowance} US dollars`;
  }
  return null;
}

/** Without the dust of adding fractions. */
function dollars(amount: number): number {
  return Number(amount.toFixed(6));
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
  const overdrawn = `${BUDGET_REASON}: the turn's allowance of ${allowance} US dollars does not cover ${amount} more`;
  const end = propose('turn/end', { turn_id: turn.turn_id, status: 'failed', reason: overdrawn });
  return appendDecision(state, [end], [...EXECUTE_CONDITION, ...BUDGET_CONDITION]);
}
