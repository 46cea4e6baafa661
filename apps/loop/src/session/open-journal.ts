import type { ActorDeps } from './actor-deps.js';
import { type JournalDeps, SessionJournal } from './session-journal.js';

/** A session's journal, ready to go on. */
export interface OpenedJournal {
  readonly journal: SessionJournal;
  /** Last fact of the stored snapshot, -1 without one. */
  readonly snapshot_seq: number;
  /** What a state that was set aside has other than the log. */
  readonly difference: string | undefined;
}

/** Opens a session's journal with the state that was set aside, or else with what the log and a snapshot give. */
export async function openJournal(
  sessionId: string,
  deps: JournalDeps & Pick<ActorDeps, 'warm'>,
): Promise<OpenedJournal> {
  const kept = deps.warm.take(sessionId);
  const { state, verified, snapshot_seq } = kept ?? (await deps.loader.load(sessionId));
  const journal = new SessionJournal(sessionId, deps, state, verified);
  // A state that was set aside is as old as that: this brings it up to date and compares it.
  return { journal, snapshot_seq, difference: kept && (await journal.verify()) };
}
