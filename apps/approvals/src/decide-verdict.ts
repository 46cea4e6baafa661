import { createHash } from 'node:crypto';
import type { AppendRequest } from '@longrein/log';
import { type ApprovalState, type SessionState, openTurn, standingRequest } from '@longrein/session';
import type { Resolved, ResolveRequest } from './requests.js';
import { StaleCall } from './stale-call.js';

/** What would make the verdict one about something else. */
const UNLESS = ['approval/resolved', 'turn/end', 'turn/cancel_requested'];

/** What a verdict comes to: an append under the condition it was decided, or what an earlier try of it came to. */
export type Decision =
  { readonly request: ApprovalState; readonly append: AppendRequest } | { readonly resolved: Resolved };

/**
 * Binds a verdict to a standing request of the open turn. Throws `StaleCall` where there is none: never asked, decided
 * already, closed with its turn, or denied by a cancel that stands. Without `request_seq` the oldest one is meant.
 */
export function decideVerdict(state: SessionState, verdict: ResolveRequest): Decision {
  const { session_id, call_id, request_seq } = verdict;
  const stale = (why: string): StaleCall => new StaleCall(session_id, call_id, why);
  const turn = openTurn(state);
  if (!turn) throw stale('no turn is open');
  const asked = turn.approvals.filter(
    (approval) => approval.call_id === call_id && (request_seq === undefined || approval.request_seq === request_seq),
  );
  const [last] = asked.slice(-1);
  if (!last) {
    throw stale(request_seq === undefined ? 'it was not asked about' : `seq ${request_seq} is no request for it`);
  }
  if (request_seq !== undefined && last.verdict && isSame(last.verdict, verdict)) {
    const { seq } = last.verdict;
    return { resolved: { call_id, request_seq, verdict: verdict.verdict, seq } };
  }
  const request = request_seq === undefined ? standingRequest(state, call_id) : asked.find(({ verdict: v }) => !v);
  if (!request) throw stale(`it was ${last.verdict?.verdict} at seq ${last.verdict?.seq}`);
  if (turn.cancel) throw stale('the turn was cancelled, which denies it');
  return { request, append: appendOf(state, request, verdict) };
}

function appendOf(state: SessionState, { request_seq }: ApprovalState, verdict: ResolveRequest): AppendRequest {
  const { call_id, verdict: decision, reason, by } = verdict;
  const payload = {
    call_id,
    request_seq,
    verdict: decision,
    ...(reason !== undefined && { reason }),
    ...(by !== undefined && { by }),
  };
  // Only a verdict that says which request it means can be told from a second one on the next request of that call id.
  const retry = verdict.request_seq !== undefined && { event_id: `verdict:${digest(payload)}` };
  return {
    events: [{ type: 'approval/resolved', payload, ...retry }],
    expect: { seq: state.last_seq, none_of: UNLESS },
    // Everything a try of this verdict can have left lies after its request.
    since: request_seq,
  };
}

function isSame(stored: NonNullable<ApprovalState['verdict']>, said: ResolveRequest): boolean {
  // The reason may be stored scrubbed, so that it cannot tell one verdict from another.
  return stored.verdict === said.verdict && stored.by === said.by;
}

function digest(value: object): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 32);
}
