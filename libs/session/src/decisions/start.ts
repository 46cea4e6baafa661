import type { TurnStatus } from '@longrein/events';
import type { QueuedInput, SessionState } from '../folds/state.js';
import { appendDecision, propose } from './append.js';
import { EXECUTE_CONDITION } from './conditions.js';
import type { AppendDecision, ProposedEvent, TurnContext } from './types.js';

/** A turn about to start. */
export interface Starting {
  readonly turn_id: string;
  /** The input it is started for; null for a turn that somebody asked for without one. */
  readonly input: QueuedInput | null;
}

/** What a start needs of the turn's context. */
export type StartContext = Pick<TurnContext, 'epoch' | 'agent' | 'new_turn_id'>;

/** The turn that `input` starts. A granted turn's id is its agent turn id. */
export function starting(input: QueuedInput | null, context: StartContext): Starting {
  return { turn_id: input?.grant?.agent_turn_id ?? context.new_turn_id, input };
}

/** The `turn/start` of a turn. */
export function turnStart(state: SessionState, { turn_id, input }: Starting, context: StartContext): ProposedEvent {
  return propose('turn/start', {
    turn_id,
    agent: state.configuration?.agent_id ?? context.agent,
    ...(input === null ? {} : { input_id: input.input_id }),
    epoch: context.epoch,
    ...(input?.grant === undefined ? {} : { grant: input.grant }),
  });
}

/**
 * Closes the open turn between steps, or one about to start (then with its `turn/start`), without a step. The end of a
 * turn consumes the input it was started for.
 */
export function closeTurn(
  state: SessionState,
  begin: Starting | null,
  context: StartContext,
  close: { readonly status: TurnStatus; readonly reason?: string | undefined },
): AppendDecision {
  const turn_id = begin?.turn_id ?? state.turn?.turn_id ?? context.new_turn_id;
  const { status, reason } = close;
  const end = propose('turn/end', reason === undefined ? { turn_id, status } : { turn_id, status, reason });
  const events = begin === null ? [end] : [turnStart(state, begin, context), end];
  return appendDecision(state, events, EXECUTE_CONDITION);
}
