import type { SessionLog } from '@longrein/log';
import { type SessionState, evolve, initialState } from '@longrein/session';

/** States kept. One costs what its session's history holds. */
const CAPACITY = 128;

/** States of sessions that were asked about, kept up to date by reading only what is new. */
export class SessionStates {
  readonly #states = new Map<string, SessionState>();
  readonly #reading = new Map<string, Promise<SessionState>>();

  constructor(private readonly log: SessionLog) {}

  /** The session's state as the log has it now. Rejects with `unknown_session`. */
  async current(sessionId: string): Promise<SessionState> {
    // Whoever asks while a read is under way needs one that began after the asking.
    await this.#reading.get(sessionId)?.catch(() => undefined);
    let reading = this.#reading.get(sessionId);
    if (!reading) {
      reading = this.#advance(sessionId).finally(() => this.#reading.delete(sessionId));
      this.#reading.set(sessionId, reading);
    }
    return reading;
  }

  async #advance(sessionId: string): Promise<SessionState> {
    let state = this.#states.get(sessionId) ?? initialState();
    for (let next: number | null = state.last_seq + 1; next !== null;) {
      const page = await this.log.read(sessionId, { from_seq: next, facts_only: true });
      for (const event of page.events) state = evolve(state, event);
      next = page.next_seq;
    }
    this.#states.delete(sessionId);
    this.#states.set(sessionId, state);
    if (this.#states.size > CAPACITY) this.#states.delete(this.#states.keys().next().value!);
    return state;
  }
}
