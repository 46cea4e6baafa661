import type { EventEnvelope } from '@longrein/events';
import { definitionOf, isSessionEvent } from '@longrein/events';
import { emptyHistory, evolveHistory } from './history.js';
import { evolveInbox } from './inbox.js';
import { evolveMetadata } from './metadata.js';
import { evolveTurn } from './open-turn.js';
import { evolveSpend, NO_BILL } from './spend.js';
import type { SessionState } from './state.js';
import { evolveUsage, NO_USAGE } from './usage.js';

/** The state before a session's first event. */
export function initialState(): SessionState {
  return {
    last_seq: -1,
    last_fact_seq: -1,
    last_fact_id: null,
    open_batch: null,
    parent_id: null,
    erased: false,
    history: emptyHistory(),
    turn: null,
    last_turn: null,
    turns: 0,
    inbox: [],
    usage: NO_USAGE,
    spend: NO_BILL,
    title: null,
    quarantine: null,
    policy: null,
    configuration: null,
    models: {},
    tools: null,
    compaction: null,
  };
}

/**
 * The state after one more event. Never mutates its arguments; what did not change is shared, and the cost depends
 * neither on the session's length nor, but for a compaction, on the history's. Deliveries may repeat: an event at or below `last_seq` changes
 * nothing. Chunks may be missing; unknown types move the position and nothing else; copied events fold like others.
 */
export function evolve(state: SessionState, event: EventEnvelope): SessionState {
  if (event.seq <= state.last_seq) return state;
  const moved = { ...state, ...position(event) };
  if (!isSessionEvent(event)) return moved;
  return {
    ...moved,
    ...evolveMetadata(state, event),
    history: evolveHistory(state.history, event),
    turn: evolveTurn(state.turn, event, state.inbox),
    inbox: evolveInbox(state.inbox, event, state.turn),
    usage: evolveUsage(state.usage, event),
    spend: evolveSpend(state.spend, event, state.turn),
  };
}

/** Folds events in order onto a state, by default the initial one. */
export function fold(events: Iterable<EventEnvelope>, state: SessionState = initialState()): SessionState {
  let folded = state;
  for (const event of events) folded = evolve(folded, event);
  return folded;
}

function position(event: EventEnvelope): Partial<SessionState> {
  if (definitionOf('sessions', event.type)?.class === 'chunk') return { last_seq: event.seq };
  const { batch } = event;
  const complete = batch === undefined || batch.index === batch.count - 1;
  return {
    last_seq: event.seq,
    last_fact_seq: event.seq,
    last_fact_id: event.id,
    open_batch: complete ? null : { id: batch.id, index: batch.index, count: batch.count },
  };
}
