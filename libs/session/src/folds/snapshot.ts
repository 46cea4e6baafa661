import { digest } from '../canonical.js';
import type { SessionState } from './state.js';
import { FOLD_VERSION } from './state.js';

/** A state at rest. Plain JSON: it survives any round trip. */
export interface Snapshot {
  readonly fold_version: number;
  readonly state: SessionState;
}

/** The snapshot of a state. Shares it: states are immutable. */
export function snapshot(state: SessionState): Snapshot {
  return { fold_version: FOLD_VERSION, state };
}

/**
 * The state of a snapshot, or null when another version of the folds wrote it or it is no snapshot at all: then the
 * caller folds from the start. Whether its position (`last_fact_seq`, `last_fact_id`) still is in the log is the
 * caller's to verify.
 */
export function restore(document: unknown): SessionState | null {
  if (typeof document !== 'object' || document === null) return null;
  const { fold_version, state } = document as Partial<Snapshot>;
  return fold_version === FOLD_VERSION && typeof state === 'object' && state !== null ? state : null;
}

/** Equal for equal states: how a running fold is compared with a fresh one. */
export function stateDigest(state: SessionState): string {
  return digest(state);
}
