import type { BaseEnvelope } from '@longrein/events';
import { MAX_MISSED, MAX_MISSED_BYTES, WINDOW_BYTES, WINDOW_EVENTS } from './limits.js';

/** What the log remembers of a recent event. */
export interface RecentEvent {
  readonly seq: number;
  readonly id: string;
  readonly type: string;
  readonly at: string;
  /** Absent for chunks, which nobody misses. */
  readonly fact: BaseEnvelope | undefined;
  /** Bytes of the envelope, 0 for chunks. */
  readonly bytes: number;
}

/**
 * The newest events of a live session: every event from `from` on. Bounded in events and bytes, because a replica
 * holds one for each live session.
 */
export class SessionWindow {
  #events: RecentEvent[] = [];
  readonly #byId = new Map<string, RecentEvent>();
  #bytes = 0;
  #from: number;

  /** An empty window of a session whose next event has this seq. */
  constructor(nextSeq: number) {
    this.#from = nextSeq;
  }

  /** Seq of the oldest event covered. */
  get from(): number {
    return this.#from;
  }

  /** Adds the session's next event. */
  push(event: RecentEvent): void {
    this.#events.push(event);
    this.#byId.set(event.id, event);
    this.#bytes += event.bytes;
    if (this.#events.length > WINDOW_EVENTS || this.#bytes > WINDOW_BYTES) this.#trim();
  }

  /** Puts older events, ending right below `from`, in front. They stay until the window is next trimmed. */
  extend(older: readonly RecentEvent[]): void {
    this.#events = [...older, ...this.#events];
    for (const event of older) {
      if (!this.#byId.has(event.id)) this.#byId.set(event.id, event);
      this.#bytes += event.bytes;
    }
    this.#from -= older.length;
  }

  /** The event of this id, if it lies in the window above `since`. */
  find(id: string, since: number): RecentEvent | undefined {
    const event = this.#byId.get(id);
    return event && event.seq > since ? event : undefined;
  }

  /** The first fact above `seq` that is of one of the types (of any without them) and not one of `except`. */
  firstFactAfter(
    seq: number,
    types: readonly string[] | undefined,
    except: ReadonlySet<number>,
  ): RecentEvent | undefined {
    for (let i = Math.max(0, seq + 1 - this.#from); i < this.#events.length; i++) {
      const event = this.#events[i]!;
      if (event.fact && !except.has(event.seq) && (!types || types.includes(event.type))) return event;
    }
    return undefined;
  }

  /** Facts in `(since, below)` but for `except`, or `truncated` when they are too many or not all in the window. */
  missed(since: number, below: number, except: ReadonlySet<number>): BaseEnvelope[] | 'truncated' {
    if (since + 1 < this.#from && below > since + 1) return 'truncated';
    const facts: BaseEnvelope[] = [];
    let bytes = 0;
    for (let i = Math.max(0, since + 1 - this.#from); i < this.#events.length; i++) {
      const event = this.#events[i]!;
      if (event.seq >= below) break;
      if (!event.fact || except.has(event.seq)) continue;
      facts.push(event.fact);
      bytes += event.bytes;
      if (facts.length > MAX_MISSED || bytes > MAX_MISSED_BYTES) return 'truncated';
    }
    return facts;
  }

  #trim(): void {
    const keep = Math.floor(WINDOW_EVENTS / 2);
    let drop = Math.max(0, this.#events.length - keep);
    let bytes = this.#bytes;
    for (let i = 0; i < drop; i++) bytes -= this.#events[i]!.bytes;
    while (bytes > WINDOW_BYTES / 2 && drop < this.#events.length) bytes -= this.#events[drop++]!.bytes;
    for (const event of this.#events.splice(0, drop)) {
      if (this.#byId.get(event.id) === event) this.#byId.delete(event.id);
    }
    this.#bytes = bytes;
    this.#from += drop;
  }
}
