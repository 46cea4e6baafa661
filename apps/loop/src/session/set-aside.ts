import type { ActorDeps } from './actor-deps.js';
import type { SessionJournal } from './session-journal.js';
import { SNAPSHOT_EVERY } from './session-loader.js';

/**
 * Keeps an idle session's state for its next turn: in memory for a while, and in the store where reading it again has
 * come to cost much. `snapshotSeq`: last fact of the stored snapshot.
 */
export function setAside(
  { sessionId, state, verified }: Pick<SessionJournal, 'sessionId' | 'state' | 'verified'>,
  snapshotSeq: number,
  { loader, warm, logger }: Pick<ActorDeps, 'loader' | 'warm' | 'logger'>,
): void {
  const due = state.turn === null && state.last_fact_seq - snapshotSeq >= SNAPSHOT_EVERY;
  if (due) {
    loader.save(sessionId, state).catch((error: unknown) => {
      logger.warn({ session_id: sessionId, err: error }, 'a snapshot was not saved');
    });
  }
  warm.keep(sessionId, { state, verified, snapshot_seq: due ? state.last_fact_seq : snapshotSeq });
}
