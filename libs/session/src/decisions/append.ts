import type { PayloadOf, SessionEventType } from '@longrein/events';
import type { SessionState } from '../folds/state.js';
import type { Append, AppendDecision, ProposedEvent, Refusal, RefusalCode } from './types.js';

/** What the log takes in one append, but for one: the text that its caller may have to put before a reply. */
export const MAX_EVENTS = 63;

/** Characters of payload that decisions put into one append, as long as that is more than one event. */
export const MAX_CHARACTERS = 256 * 1024;

/** An event of a known type with its payload. */
export function propose<Type extends SessionEventType>(type: Type, payload: PayloadOf<Type>): ProposedEvent {
  return { type, payload };
}

/** The append of `events` as decided on `state`. */
export function appendTo(
  state: SessionState,
  events: readonly ProposedEvent[],
  noneOf: readonly SessionEventType[],
): Append {
  return { events, expect: { seq: state.last_seq, none_of: noneOf } };
}

/** As much of `events`, from the first on, as one append takes: at least one, or none of none. */
export function fitting(events: readonly ProposedEvent[], limit = MAX_EVENTS): readonly ProposedEvent[] {
  let characters = 0;
  const end = events.slice(0, limit).findIndex((event, index) => {
    characters += JSON.stringify(event.payload).length;
    return index > 0 && characters > MAX_CHARACTERS;
  });
  return events.slice(0, end < 0 ? limit : end);
}

/** As much of `events` as one append takes: what is left out is decided again on the state it leads to. */
export function appendDecision(
  state: SessionState,
  events: readonly ProposedEvent[],
  noneOf: readonly SessionEventType[],
): AppendDecision {
  return { kind: 'append', append: appendTo(state, fitting(events), noneOf) };
}

/** A decision to append nothing. */
export function refuse(code: RefusalCode, message: string): Refusal {
  return { kind: 'refused', code, message };
}
