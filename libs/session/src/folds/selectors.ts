import type { AgentSpec, ModelRole } from '@longrein/events';
import { toArray } from '../list.js';
import type {
  ApprovalState,
  HistoryItem,
  OpenTurn,
  QueuedInput,
  SessionState,
  SessionStatus,
  SpendState,
  SpendTotals,
  UsageTotals,
} from './state.js';
import { totalSpend } from './spend.js';

/** The messages a model sees: the latest summary, if any, and what came after it. Costs what the history holds. */
export function history(state: SessionState): HistoryItem[] {
  return toArray(state.history.entries).map((entry) => entry.item);
}

/** The open turn, or null. An open turn that nobody runs is resumable. */
export function openTurn(state: SessionState): OpenTurn | null {
  return state.turn;
}

/** A quarantine shows before a standing cancel, that before a stall, a stall before a parked call. */
export function status(state: SessionState): SessionStatus {
  const { turn } = state;
  if (state.quarantine !== null) return 'quarantined';
  if (turn === null) return 'idle';
  if (turn.cancel !== null) return 'stopping';
  if (turn.stalled !== null) return 'stalled';
  return pendingApprovals(state).length > 0 ? 'waiting_approval' : 'running';
}

/** Unconsumed inputs, oldest first. */
export function inbox(state: SessionState): readonly QueuedInput[] {
  return state.inbox;
}

/** The first document's usage. */
export function usage(state: SessionState): UsageTotals {
  return state.usage;
}

/** The whole bill: steps, utility requests, by model, and `total`. */
export function spend(state: SessionState): SpendState & { readonly total: SpendTotals } {
  return { ...state.spend, total: totalSpend(state.spend) };
}

/** The newest title, or null. */
export function title(state: SessionState): string | null {
  return state.title;
}

/** The patterns in force and since when, or null where the session says nothing (the deployment's floor governs). */
export function policy(
  state: SessionState,
): { readonly patterns: readonly string[]; readonly source: 'updated' | 'spec'; readonly seq: number } | null {
  if (state.policy !== null) return { ...state.policy, source: 'updated' };
  const floor = state.configuration?.spec.policy;
  return floor === undefined ? null : { patterns: floor, source: 'spec', seq: state.configuration?.seq ?? 0 };
}

/** Requests of the open turn without a verdict, oldest first. */
export function pendingApprovals(state: SessionState): readonly ApprovalState[] {
  return state.turn?.approvals.filter((approval) => approval.verdict === null) ?? [];
}

/** The oldest pending request for a call id: the one that a verdict naming only the id is about. */
export function standingRequest(state: SessionState, callId: string): ApprovalState | undefined {
  return pendingApprovals(state).find((approval) => approval.call_id === callId);
}

/** What the session's agent is, or null in a session without one. */
export function spec(state: SessionState): AgentSpec | null {
  return state.configuration?.spec ?? null;
}

/** Whether the session belongs to an agent: then only granted inputs start turns. */
export function isConfigured(state: SessionState): boolean {
  return state.configuration !== null;
}

/** The `provider/model` of a role: the session's selection, else the spec's, else the deployment's. */
export function modelFor(
  state: SessionState,
  role: ModelRole,
  deployment: Readonly<Partial<Record<ModelRole, string>>> = {},
): string | undefined {
  return state.models[role] ?? state.configuration?.spec.roles?.[role] ?? deployment[role];
}

/** Seq of the last event folded, -1 before the first. */
export function lastSeq(state: SessionState): number {
  return state.last_seq;
}

/** Seq of the last fact folded, -1 before the first. */
export function lastFactSeq(state: SessionState): number {
  return state.last_fact_seq;
}

/** The append of which only a prefix has been folded, or null. */
export function incompleteBatch(state: SessionState): SessionState['open_batch'] {
  return state.open_batch;
}

/** Queued inputs whose text no queued grant carries: a promoted one waits for the message of the input that promotes it. */
export function unpromoted(state: SessionState): readonly QueuedInput[] {
  const promoted = state.inbox.flatMap((input) => input.grant?.promotes ?? []);
  return promoted.length === 0 ? state.inbox : state.inbox.filter((input) => !promoted.includes(input.input_id));
}

/** The oldest queued input that may start a turn: a granted one, or a waking one where no agent owns the session. */
export function startableInput(state: SessionState): QueuedInput | undefined {
  const configured = isConfigured(state);
  return unpromoted(state).find((input) => input.grant !== undefined || (input.wake && !configured));
}

/** Whether a loop has anything to do here, now or at a verdict: an open turn, or an input that may start one. */
export function inWork(state: SessionState): boolean {
  return state.turn !== null || startableInput(state) !== undefined;
}

/** Why an open turn that this process did not run needs taking up. */
export function resumeCause(turn: OpenTurn): 'handover' | 'death' {
  return turn.handed_over === null ? 'death' : 'handover';
}
