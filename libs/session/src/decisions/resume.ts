import type { OpenTurn, SessionState } from '../folds/state.js';
import { appendDecision, appendTo, propose, refuse } from './append.js';
import { RESUME_CONDITION } from './conditions.js';
import { callsAction, missingCalls, owedCalls } from './owed-calls.js';
import type { AppendDecision, Refusal, ResumeCause, ResumeDecision, ToolTraits } from './types.js';

/** Resumes after a death that a turn gets, ever. Then it stalls. */
export const RECOVERY_LIMIT = 5;

/** How an open turn is taken up. */
export interface ResumeRequest {
  readonly epoch: number;
  readonly cause: ResumeCause;
  readonly traits?: (name: string) => ToolTraits | undefined;
}

/** Takes up an open turn that nobody is running: at a takeover, or at a stimulus. */
export function decideResume(state: SessionState, { epoch, cause, traits }: ResumeRequest): ResumeDecision {
  const { turn } = state;
  if (turn === null) return refuse('nothing_open', 'no turn is open: nothing to resume');
  const { turn_id } = turn;
  const resumed = appendTo(state, [propose('turn/resumed', { turn_id, epoch, cause })], RESUME_CONDITION);
  // A cancelled turn only has to be closed, which asks no model and runs no tool.
  if (turn.cancel !== null) return { kind: 'resume', append: resumed };
  const stimulus = cause === 'wake' || cause === 'verdict';
  if (turn.stalled !== null && !stimulus) return { kind: 'stay', reason: 'stalled' };
  if (onlyParked(turn, traits ?? (() => undefined))) return { kind: 'stay', reason: 'parked' };
  if (cause === 'death' && turn.resumes.death >= RECOVERY_LIMIT) {
    const reason = `recovery limit: the processes that ran this turn died, and ${RECOVERY_LIMIT} resumes have been used`;
    return {
      kind: 'stall',
      append: appendTo(state, [propose('turn/stalled', { turn_id, epoch, reason })], RESUME_CONDITION),
    };
  }
  return { kind: 'resume', append: resumed };
}

/** Gives up an open turn in order, at a step boundary: the next owner goes on without counting it. */
export function decideHandover(
  state: SessionState,
  { epoch, reason }: { readonly epoch: number; readonly reason?: string },
): AppendDecision | Refusal {
  const { turn } = state;
  if (turn === null) return refuse('nothing_open', 'no turn is open: nothing to hand over');
  const payload = { turn_id: turn.turn_id, epoch, ...(reason === undefined ? {} : { reason }) };
  return appendDecision(state, [propose('turn/handed_over', payload)], RESUME_CONDITION);
}

/** What takes a stalled turn up again: a waking input or a verdict that is newer than its stall. Null without one. */
export function stimulusAfterStall(state: SessionState): ResumeCause | null {
  const since = state.turn?.stalled?.seq;
  if (since === undefined) return null;
  if (state.inbox.some((input) => input.wake && input.seq > since)) return 'wake';
  return state.turn?.approvals.some(({ verdict }) => verdict !== null && verdict.seq > since) ? 'verdict' : null;
}

/** Nothing can be done about the turn before a human decides. */
function onlyParked(turn: OpenTurn, traits: (name: string) => ToolTraits | undefined): boolean {
  if (missingCalls(turn).length > 0) return false;
  const first = owedCalls(turn)[0];
  if (first === undefined || first.finished !== null) return false;
  const action = callsAction(turn, traits, new Set());
  return action.kind === 'await_calls' && action.parked.length > 0;
}
