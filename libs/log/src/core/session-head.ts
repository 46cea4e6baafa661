import type { BaseEnvelope } from '@longrein/events';
import { SessionWindow } from './session-window.js';

/** Where a session stands: what the log needs to append its next event. */
export class SessionHead {
  #lastSeq: number;
  #factOrdinal: number;
  readonly window: SessionWindow;

  /**
   * @param lastSeq seq of the session's last event; -1 for a session about to be created
   * @param factOrdinal ordinal of its last fact among its facts, from 0; -1 without any
   */
  constructor(
    readonly id: string,
    lastSeq: number,
    factOrdinal: number,
  ) {
    this.#lastSeq = lastSeq;
    this.#factOrdinal = factOrdinal;
    this.window = new SessionWindow(lastSeq + 1);
  }

  get lastSeq(): number {
    return this.#lastSeq;
  }

  get factOrdinal(): number {
    return this.#factOrdinal;
  }

  /** Takes in the session's next event. */
  push(event: BaseEnvelope, isFact: boolean, bytes: number): void {
    this.#lastSeq = event.seq;
    if (isFact) this.#factOrdinal++;
    this.window.push({
      seq: event.seq,
      id: event.id,
      type: event.type,
      at: event.at,
      fact: isFact ? event : undefined,
      bytes: isFact ? bytes : 0,
    });
  }
}
