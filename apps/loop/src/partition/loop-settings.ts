import type { DocumentStore } from '@longrein/log';
import type { ActorDeps } from '../session/actor-deps.js';

/** What the runners of one process share. */
export interface LoopSettings extends Omit<ActorDeps, 'epoch' | 'recovery' | 'warm'> {
  readonly documents: DocumentStore;
  /** Name of this process in `owner/changed`. */
  readonly owner: string;
  /** How long a stopping runner waits for its turns to reach a step boundary. */
  readonly drain_ms: number;
  /** How long after that it waits for their handover to be stored. */
  readonly abort_ms: number;
}
