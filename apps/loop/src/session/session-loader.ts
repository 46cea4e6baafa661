import type { EventEnvelope } from '@longrein/events';
import type { DocumentStore, SessionLog } from '@longrein/log';
import { type SessionState, fold, initialState, restore, snapshot } from '@longrein/session';

/** Facts after which a snapshot is worth its write. */
export const SNAPSHOT_EVERY = 256;

/** A session's state, and where the ways to get at it again begin. */
export interface LoadedState {
  readonly state: SessionState;
  /** The last state that was folded from the log itself. */
  readonly verified: SessionState;
  /** Last fact of the stored snapshot, -1 without one. */
  readonly snapshot_seq: number;
}

/** Brings sessions' states from the log, with snapshots as a cache that may be lost or wrong without harm. */
export class SessionLoader {
  constructor(
    private readonly log: SessionLog,
    private readonly documents: DocumentStore,
  ) {}

  /** The state at the session's end: its snapshot, if one holds, and the facts after it. */
  async load(sessionId: string): Promise<LoadedState> {
    const saved = await this.#snapshot(sessionId);
    const { facts, last_seq } = await this.factsAfter(sessionId, saved?.last_fact_seq ?? -1);
    const state = withPosition(fold(facts, saved ?? initialState()), last_seq);
    return { state, verified: state, snapshot_seq: saved?.last_fact_seq ?? -1 };
  }

  /** The session's facts after a seq, and its last seq when the last of them was read. */
  async factsAfter(sessionId: string, seq: number): Promise<{ facts: EventEnvelope[]; last_seq: number }> {
    const facts: EventEnvelope[] = [];
    let last_seq = seq;
    for (let next: number | null = seq + 1; next !== null;) {
      const page = await this.log.read(sessionId, { from_seq: next, facts_only: true });
      facts.push(...page.events);
      ({ next_seq: next, last_seq } = page);
    }
    return { facts, last_seq };
  }

  /** Keeps the state as the session's snapshot. Call it where no turn is open. */
  async save(sessionId: string, state: SessionState): Promise<void> {
    await this.documents.save(documentName(sessionId), snapshot(state));
  }

  /** Verified: the event at its position is the one it was made of. Anything else is dropped. */
  async #snapshot(sessionId: string): Promise<SessionState | null> {
    const state = restore(await this.documents.load(documentName(sessionId)));
    if (!state) return null;
    const page = await this.log.read(sessionId, { from_seq: state.last_fact_seq, limit: 1, facts_only: true });
    return page.events[0]?.id === state.last_fact_id ? state : null;
  }
}

/**
 * The state at a session's end that is known to hold no fact after it, only chunks. They are not read, but an append
 * has to say how far the session was seen.
 */
export function withPosition(state: SessionState, lastSeq: number): SessionState {
  return lastSeq > state.last_seq ? { ...state, last_seq: lastSeq } : state;
}

function documentName(sessionId: string): string {
  return `session.${sessionId}`;
}
