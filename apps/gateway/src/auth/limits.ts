import type { Clock } from '@longrein/clock';
import { FrameError } from '../protocol/server-frames.js';
import type { Access } from './token-book.js';

interface Bucket {
  left: number;
  at: number;
}

/** A limit of a token was met. */
export class LimitExceeded extends FrameError {
  constructor(
    message: string,
    /** After how many seconds trying again is worthwhile, where time helps. */
    readonly retry_after_s?: number,
  ) {
    super('limit_exceeded', message);
  }
}

/** Holds tokens to their limits, in this process: each replica counts for itself. */
export class Limits {
  readonly #buckets = new Map<string, Bucket>();
  /** Connections by session, by token. */
  readonly #sessions = new Map<string, Map<string, number>>();

  constructor(private readonly clock: Pick<Clock, 'now'>) {}

  /** Counts one frame or request. Throws `LimitExceeded` when the token has used up its rate. */
  take({ token_id, limits }: Access): void {
    const { requests_per_s: rate, burst = Math.max(1, Math.ceil(rate ?? 1)) } = limits;
    if (rate === undefined) return;
    const now = this.clock.now();
    const bucket = this.#buckets.get(token_id) ?? { left: burst, at: now };
    this.#buckets.set(token_id, bucket);
    bucket.left = Math.min(burst, bucket.left + (Math.max(0, now - bucket.at) * rate) / 1000);
    bucket.at = now;
    if (bucket.left < 1) {
      const wait = (1 - bucket.left) / rate;
      throw new LimitExceeded(`this token may make ${rate} requests a second; wait ${wait.toFixed(2)} s`, wait);
    }
    bucket.left--;
  }

  /**
   * Counts a connection to a session, until the function returned is called. Throws `LimitExceeded` when the token is at
   * as many other sessions as it may be.
   */
  enter({ token_id, limits: { sessions: limit } }: Access, sessionId: string): () => void {
    const open = this.#sessions.get(token_id) ?? new Map<string, number>();
    const count = open.get(sessionId) ?? 0;
    if (limit !== undefined && count === 0 && open.size >= limit) {
      throw new LimitExceeded(`this token may be connected to ${limit} sessions at a time; leave one first`);
    }
    this.#sessions.set(token_id, open.set(sessionId, count + 1));
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const now = (open.get(sessionId) ?? 1) - 1;
      if (now > 0) open.set(sessionId, now);
      else open.delete(sessionId);
      if (open.size === 0) this.#sessions.delete(token_id);
    };
  }
}
