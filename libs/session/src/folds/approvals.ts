import type { SessionEvent } from '@longrein/events';
import type { ApprovalState } from './state.js';

/**
 * Requests and verdicts of the open turn. A verdict counts for the request whose seq it names, if it follows it, names
 * the same call id and is the first: anything else changes nothing.
 */
export function evolveApprovals(approvals: readonly ApprovalState[], event: SessionEvent): readonly ApprovalState[] {
  switch (event.type) {
    case 'approval/requested': {
      const { call_seq, call_id, name, args } = event.payload;
      return [...approvals, { request_seq: event.seq, call_seq, call_id, name, args: args ?? null, verdict: null }];
    }
    case 'approval/resolved': {
      const { request_seq, call_id, ...said } = event.payload;
      return approvals.map((approval) =>
        approval.request_seq === request_seq && approval.call_id === call_id && approval.verdict === null
          ? { ...approval, verdict: { ...said, seq: event.seq } }
          : approval,
      );
    }
    default:
      return approvals;
  }
}
