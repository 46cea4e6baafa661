import { createHash } from 'node:crypto';
import type { Grant, inputQueued, SessionEventType } from '@longrein/events';
import type { Expectation, NewEvent } from '@longrein/log';
import { inbox, openTurn, type QueuedInput, type SessionState } from '@longrein/session';
import type { z } from 'zod';

/** A session's fold, up to `seq`: the session's end when it was read. */
export interface SessionView {
  readonly state: SessionState;
  readonly seq: number;
}

/** A waking input for a session that has an agent. */
export interface WakingInput {
  readonly input_id: string;
  readonly text: string;
  readonly origin?: string;
  readonly correlation_id?: string;
}

/** An event and the condition under which it was decided. */
export interface InputDecision {
  readonly event: NewEvent;
  readonly expect: Expectation;
  /** `grant`: it starts a turn. `steer`: it rides a turn that is open or about to be. */
  readonly as: 'grant' | 'steer';
}

/** What would change the decision: a turn begins or ends, another input is granted. */
const DECIDED_WITHOUT: readonly SessionEventType[] = ['turn/start', 'turn/end', 'input/queued', 'session/configured'];

const SAFE_ID = /^[!-~]{1,112}$/;

/** Event id of an input: the same input is the same event, whoever repeats it. */
export function inputEventId(inputId: string): string {
  const name = SAFE_ID.test(inputId) ? inputId : createHash('sha256').update(inputId).digest('hex');
  return `input:${name}`;
}

/**
 * What becomes of a waking input: in an idle session it is granted a turn, whose id is the input's; while a turn is
 * open, or another grant waits to become one, it is a steer.
 */
export function decideInput({ state, seq }: SessionView, input: WakingInput, generation: number): InputDecision {
  const busy = openTurn(state) !== null || inbox(state).some(({ grant }) => grant !== undefined);
  const grant: Grant = { agent_turn_id: input.input_id, generation };
  return queued(seq, { ...input, ...(!busy && { grant }) }, busy ? 'steer' : 'grant');
}

/**
 * Grants the oldest waking input that no turn has taken up, once no turn is open: the text goes into a new input that
 * names the queued one in `promotes`. Nothing when there is none.
 */
export function decidePromotion({ state, seq }: SessionView, generation: number): InputDecision | undefined {
  if (openTurn(state) !== null) return undefined;
  const waiting = inbox(state);
  if (waiting.some(({ grant }) => grant !== undefined)) return undefined;
  const next = waiting.find(({ wake }) => wake);
  if (!next) return undefined;
  const inputId = promotedId(next);
  const grant: Grant = { agent_turn_id: inputId, generation, promotes: next.input_id };
  const { text, origin, correlation_id } = next;
  const input = {
    input_id: inputId,
    text,
    ...(origin !== undefined && { origin }),
    ...(correlation_id !== undefined && { correlation_id }),
    grant,
  };
  return queued(seq, input, 'grant');
}

/** Grants that no turn has taken up and no cancel has named. */
export function standingGrants(state: SessionState): readonly Grant[] {
  return inbox(state).flatMap(({ grant, revoked }) => (grant && !revoked ? [grant] : []));
}

/**
 * Ids of the turns to cancel once an agent is disposed: the open one, and those it was granted that could still start.
 * What a later generation was granted is the next agent's.
 */
export function turnsToRevoke(state: SessionState, generation: number): readonly string[] {
  const turn = openTurn(state);
  const open = turn !== null && turn.cancel === null && (turn.grant?.generation ?? 0) <= generation;
  const granted = standingGrants(state).filter((grant) => grant.generation <= generation);
  return [...(open ? [turn.turn_id] : []), ...granted.map(({ agent_turn_id }) => agent_turn_id)];
}

/** By seq, because an input may be promoted whose id is as long as an id can be. */
function promotedId({ seq }: QueuedInput): string {
  return `promoted-${seq}`;
}

function queued(seq: number, input: WakingInput & { grant?: Grant }, as: InputDecision['as']): InputDecision {
  const payload: z.infer<(typeof inputQueued)['schema']> = { ...input, wake: true };
  return {
    event: { type: 'input/queued', payload, event_id: inputEventId(input.input_id) },
    expect: { seq, none_of: DECIDED_WITHOUT },
    as,
  };
}
