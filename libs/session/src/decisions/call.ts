import { spec } from '../folds/selectors.js';
import type { CallOutcome, OpenTurn, SessionState } from '../folds/state.js';
import { permission } from './allow-list.js';
import { appendTo, propose, refuse } from './append.js';
import { exhausted } from './budget.js';
import { EXECUTE_CONDITION, OUTCOME_CONDITION } from './conditions.js';
import { requestFor } from './owed-calls.js';
import { errorOutcome, findOwed, outcomeEvent } from './outcome.js';
import { cancelledCall } from './settle.js';
import type { CallDecision, OwedCall, ToolTraits, TurnContext } from './types.js';

/** What decisions about a call need of the turn's context. */
export type CallContext = Pick<TurnContext, 'epoch' | 'deployment' | 'traits' | 'running' | 'approvals'>;

/** What only the caller can tell about a call. */
export interface CallOptions {
  /**
   * The stored name or arguments are not what the model wrote, because a scrubber rewrote them, and the original is
   * gone (a resumed turn): executing them would do something nobody asked for.
   */
  readonly altered?: boolean;
}

/**
 * What to do about an owed call, in this order: a cancel, a standing request, a denial, a call that must not run twice,
 * altered arguments, the allow list, an unknown tool, the budget, the approvals gate, execution.
 */
export function decideCall(
  state: SessionState,
  callSeq: number,
  context: CallContext,
  options: CallOptions = {},
): CallDecision {
  const owed = findOwed(state, callSeq);
  if ('kind' in owed) return owed;
  const { turn, call } = owed;
  if (context.running?.has(callSeq)) return refuse('not_expected', `call ${callSeq} (${call.name}) is running`);

  const request = requestFor(turn, call);
  const traits = context.traits(call.name);
  if (turn.cancel === null && request?.verdict === null) return { kind: 'parked', request_seq: request.request_seq };
  const veto = refusal(state, turn, call, traits, context, options);
  if (veto !== null) {
    const events = [outcomeEvent(turn, call, veto)];
    return { kind: 'answer', append: appendTo(state, events, [...EXECUTE_CONDITION, ...OUTCOME_CONDITION]) };
  }
  if (gated(traits, context) && request?.verdict?.verdict !== 'approved') {
    const { id: call_id, name, args, call_seq } = call;
    const events = [propose('approval/requested', { call_seq, call_id, name, args })];
    return { kind: 'park', append: appendTo(state, events, EXECUTE_CONDITION) };
  }
  const attempt = (call.started?.attempt ?? 0) + 1;
  const started = propose('tool/started', { call_seq: callSeq, call_id: call.id, attempt, epoch: context.epoch });
  return { kind: 'start', append: appendTo(state, [started], EXECUTE_CONDITION), attempt, call };
}

/** The result of a call that is not executed, or null for one that may be. */
function refusal(
  state: SessionState,
  turn: OpenTurn,
  call: OwedCall,
  traits: ToolTraits | undefined,
  context: CallContext,
  { altered = false }: CallOptions,
): CallOutcome | null {
  const tool = JSON.stringify(call.name);
  const verdict = requestFor(turn, call)?.verdict;
  if (turn.cancel !== null) return cancelledCall(call);
  if (verdict?.verdict === 'denied') {
    return errorOutcome(`tool ${tool}: approval denied: ${verdict.reason ?? 'no reason given'}`);
  }
  if (call.started !== null && traits?.repeatable === false) {
    return errorOutcome(`tool ${tool}: outcome unknown: it was started, may have run, and may not be repeated`);
  }
  if (altered) {
    return errorOutcome(
      `tool ${tool}: not executed: its name or arguments were redacted when they were stored and the original is gone`,
    );
  }
  const { allowed, source } = permission(state, call.name, context.deployment);
  if (!allowed) return errorOutcome(`tool ${tool}: not allowed by the policy in force (${source})`);
  if (traits === undefined) return errorOutcome(`tool ${tool}: not registered`);
  const budget = exhausted(state, context.deployment);
  if (budget !== null) return errorOutcome(`tool ${tool}: not executed: budget exhausted: ${budget}`);
  if (gated(traits, context) && verdict?.verdict !== 'approved' && spec(state)?.unattended === true) {
    return errorOutcome(`tool ${tool}: approval denied: it needs an approval and no approver can be reached here`);
  }
  return null;
}

/** `always` asks, `policy` asks for tools that mutate, `never` does not. */
function gated(traits: ToolTraits | undefined, { approvals = true }: CallContext): boolean {
  if (!approvals || traits === undefined) return false;
  return traits.approval === 'always' || (traits.approval === 'policy' && traits.mutating);
}
