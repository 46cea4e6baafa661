import type { PayloadOf, SessionEvent } from '@longrein/events';
import { withCancel } from './cancel.js';
import type { OpenTurn, QueuedInput } from './state.js';

/**
 * Inputs that nothing has consumed. The message that names an input consumes it, and with it the input it promotes.
 * The end of a turn consumes the input the turn was started for even where no message carried it (`rejected`, or a
 * turn that failed or was cancelled before its first step): left queued it would start the same turn for ever.
 * `turn` is the turn that was open before `event`.
 */
export function evolveInbox(
  inbox: readonly QueuedInput[],
  event: SessionEvent,
  turn: OpenTurn | null,
): readonly QueuedInput[] {
  switch (event.type) {
    case 'input/queued':
      return queued(inbox, event.payload, event.seq);
    case 'user/message':
    case 'context/injected':
      return without(inbox, event.payload.input_id, turn);
    case 'turn/end':
      return turn?.input_id === undefined ? inbox : without(inbox, turn.input_id, turn);
    case 'turn/cancel_requested': {
      const { turn_id } = event.payload;
      if (turn?.turn_id === turn_id || !inbox.some((input) => input.grant?.agent_turn_id === turn_id)) return inbox;
      return inbox.map((input) =>
        input.grant?.agent_turn_id === turn_id
          ? { ...input, revoked: withCancel(input.revoked, event.payload, event.seq) }
          : input,
      );
    }
    case 'session/forked':
      // What was queued in the parent is no stimulus here, and a grant there is the parent's to use.
      return inbox.filter((input) => input.grant === undefined).map((input) => ({ ...input, wake: false }));
    case 'session/erased':
      return [];
    default:
      return inbox;
  }
}

function queued(
  inbox: readonly QueuedInput[],
  payload: PayloadOf<'input/queued'>,
  seq: number,
): readonly QueuedInput[] {
  return inbox.some((input) => input.input_id === payload.input_id) ? inbox : [...inbox, { ...payload, seq }];
}

function without(inbox: readonly QueuedInput[], inputId: string, turn: OpenTurn | null): readonly QueuedInput[] {
  const grant =
    inbox.find((input) => input.input_id === inputId)?.grant ?? (turn?.input_id === inputId ? turn.grant : undefined);
  const gone = (input: QueuedInput) => input.input_id === inputId || input.input_id === grant?.promotes;
  return inbox.some(gone) ? inbox.filter((input) => !gone(input)) : inbox;
}
