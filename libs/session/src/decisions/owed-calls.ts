import type { ApprovalState, OpenCall, OpenTurn } from '../folds/state.js';
import { canonicalJson } from '../canonical.js';
import { propose } from './append.js';
import { callGroups } from './groups.js';
import type { Action, OwedCall, ProposedEvent, ToolTraits } from './types.js';

/** Calls without a result, in call order. */
export function owedCalls(turn: OpenTurn): readonly OpenCall[] {
  return turn.calls.filter((call) => !call.answered);
}

/** `tool/call`s that the append of their message should have brought and did not. */
export function missingCalls(turn: OpenTurn): ProposedEvent[] {
  return turn.calls
    .filter((call) => call.call_seq === null)
    .map(({ id, name, args }) => propose('tool/call', { id, name, args }));
}

/** A call that has its seq. */
export function isLogged(call: OpenCall): call is OwedCall {
  return call.call_seq !== null;
}

/** The request that asked about this very call: same seq, id, tool and arguments in stored form. The newest if several. */
export function requestFor(turn: OpenTurn, call: OwedCall): ApprovalState | undefined {
  return turn.approvals.findLast(
    (approval) =>
      approval.call_seq === call.call_seq &&
      approval.call_id === call.id &&
      approval.name === call.name &&
      canonicalJson(approval.args) === canonicalJson(call.args),
  );
}

/** What the open calls need now: decisions, or patience. Expects every call to be logged and one to be unfinished. */
export function callsAction(
  turn: OpenTurn,
  traits: (name: string) => ToolTraits | undefined,
  running: ReadonlySet<number>,
): Extract<Action, { kind: 'calls' | 'await_calls' }> {
  const open = (call: OpenCall): call is OwedCall => isLogged(call) && !call.answered && call.finished === null;
  const group = callGroups(turn.calls, traits).find((calls) => calls.some(open)) ?? [];
  const parked = (call: OwedCall) => requestFor(turn, call)?.verdict === null;
  const waiting = group.filter(open);
  const calls = waiting.filter((call) => !running.has(call.call_seq) && !parked(call));
  if (calls.length > 0) return { kind: 'calls', calls };
  return {
    kind: 'await_calls',
    running: waiting.filter((call) => running.has(call.call_seq)).map((call) => call.call_seq),
    parked: waiting.filter((call) => !running.has(call.call_seq)).map((call) => call.call_seq),
  };
}
