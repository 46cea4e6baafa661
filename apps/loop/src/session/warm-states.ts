import type { LoadedState } from './session-loader.js';

/** States of the sessions that were idle last, so that a conversation's next turn does not read its past again. */
export class WarmStates {
  readonly #states = new Map<string, LoadedState>();

  /** `limit`: most sessions kept. Bounds the memory that idle sessions take, however many there are. */
  constructor(private readonly limit = 64) {}

  keep(sessionId: string, state: LoadedState): void {
    this.#states.delete(sessionId);
    this.#states.set(sessionId, state);
    for (const oldest of this.#states.keys()) {
      if (this.#states.size <= this.limit) break;
      this.#states.delete(oldest);
    }
  }

  /** Takes the state out. It is as old as when it was kept. */
  take(sessionId: string): LoadedState | undefined {
    const state = this.#states.get(sessionId);
    this.#states.delete(sessionId);
    return state;
  }
}
