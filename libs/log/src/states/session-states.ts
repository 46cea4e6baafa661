import { type SessionState, evolve, initialState } from '@longrein/session';
import type { CallOptions, SessionLog } from '../port/index.js';

/** States kept unless told otherwise. One costs what its session's history holds. */
const CAPACITY = 128;

/** States of sessions that were asked about, kept up to date by reading only the facts that are new. */
export class SessionStates {
  readonly #states = new Map<string, SessionState>();
  readonly #reading = new Map<string, Promise<SessionState>>();

  /**
   * @param options of every read
   * @param capacity states kept; the one unused for longest goes
   */
  constructor(
    private readonly log: Pick<SessionLog, 'read'>,
    private readonly options: CallOptions = {},
    private readonly capacity = CAPACITY,
  ) {}

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
      const page = await this.log.read(sessionId, { from_seq: next, facts_only: true }, this.options);
      for (const event of page.events) state = evolve(state, event);
      next = page.next_seq;
    }
    this.#states.delete(sessionId);
    this.#states.set(sessionId, state);
    if (this.#states.size > this.capacity) this.#states.delete(this.#states.keys().next().value!);
    return state;
  }
}
