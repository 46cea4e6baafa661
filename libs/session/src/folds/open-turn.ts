import type { EventEnvelope, PayloadOf, SessionEvent } from '@longrein/events';
import { evolveApprovals } from './approvals.js';
import { evolveCalls } from './calls.js';
import { withCancel } from './cancel.js';
import type { OpenStep, OpenTurn, QueuedInput } from './state.js';
import { evolveTurnBudget, NO_SPEND } from './turn-budget.js';

/** The open turn after `event`; `inbox` is what was queued before it. */
export function evolveTurn(turn: OpenTurn | null, event: SessionEvent, inbox: readonly QueuedInput[]): OpenTurn | null {
  if (event.type === 'turn/start') return started(event, inbox);
  if (event.type === 'turn/end' || event.type === 'session/erased') return null;
  if (turn === null) return null;
  const calls = evolveCalls(turn.calls, event);
  const approvals = evolveApprovals(turn.approvals, event);
  const budget = evolveTurnBudget(turn.budget, event);
  const own = evolveOwn(turn, event);
  return own === turn && calls === turn.calls && approvals === turn.approvals && budget === turn.budget
    ? turn
    : { ...own, calls, approvals, budget };
}

function started(
  { seq, payload }: EventEnvelope<'turn/start', PayloadOf<'turn/start'>>,
  inbox: readonly QueuedInput[],
): OpenTurn {
  const { turn_id, agent, input_id, epoch, grant } = payload;
  const revoked = inbox.find((input) => input.grant?.agent_turn_id === turn_id)?.revoked;
  return {
    turn_id,
    agent,
    ...(input_id === undefined ? {} : { input_id }),
    ...(grant === undefined ? {} : { grant }),
    epoch,
    start_seq: seq,
    n: 0,
    step: null,
    calls: [],
    concluded: false,
    approvals: [],
    cancel: revoked ?? null,
    stalled: null,
    handed_over: null,
    resumes: { death: 0, handover: 0, wake: 0, verdict: 0 },
    budget: NO_SPEND,
  };
}

function evolveOwn(turn: OpenTurn, event: SessionEvent): OpenTurn {
  switch (event.type) {
    case 'step/start': {
      const { n, model, request_digest } = event.payload;
      const step = { n, model, seq: event.seq, request_digest, replied: false, usage_lost: false };
      return { ...turn, n, step, concluded: false };
    }
    case 'assistant/message':
      return {
        ...turn,
        step: turn.step && { ...turn.step, replied: true },
        concluded: !event.payload.parts.some((part) => part.type === 'tool_call'),
      };
    case 'step/end':
      return { ...turn, step: null };
    case 'turn/cancel_requested':
      return event.payload.turn_id === turn.turn_id
        ? { ...turn, cancel: withCancel(turn.cancel, event.payload, event.seq) }
        : turn;
    case 'turn/stalled':
      return { ...turn, step: orphaned(turn.step), stalled: { reason: event.payload.reason, seq: event.seq } };
    case 'turn/handed_over':
      return { ...turn, step: orphaned(turn.step), handed_over: event.seq };
    case 'turn/resumed':
      return resumed(turn, event.payload);
    default:
      return turn;
  }
}

function resumed(turn: OpenTurn, { cause, epoch }: PayloadOf<'turn/resumed'>): OpenTurn {
  return {
    ...turn,
    epoch,
    step: orphaned(turn.step),
    // A turn whose process died after its final reply asks the model once more; one handed over in order need not.
    concluded: turn.concluded && cause === 'handover',
    stalled: null,
    handed_over: null,
    resumes: { ...turn.resumes, [cause]: turn.resumes[cause] + 1 },
  };
}

/** A step whose process is gone: without a reply it stays unclosed for good, with one it is closed without usage. */
function orphaned(step: OpenStep | null): OpenStep | null {
  return step?.replied ? { ...step, usage_lost: true } : null;
}
