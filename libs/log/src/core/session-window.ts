import type { BaseEnvelope } from '@longrein/events';
import { MAX_MISSED, MAX_MISSED_BYTES, WINDOW_BYTES, WINDOW_EVENTS } from './limits.js';

/** What the log remembers of a recent event. */
export interface RecentEvent {
  readonly seq: number;
  readonly id: string;
  readonly type: string;
  readonly at: string;
  /** Absent for chunks, which nobody misses; `dropped` for a fact whose envelope is not kept. The window changes it. */
  fact: BaseEnvelope | 'dropped' | undefined;
  /** Bytes of the envelope that is kept, else 0. */
  bytes: number;
}

/**
 * The newest events of a live session: every event from `from` on, the newest of them with their envelopes. Bounded in
 * events and bytes, because a replica holds one for each live session.
 */
export class SessionWindow {
  #events: RecentEvent[] = [];
  readonly #byId = new Map<string, RecentEvent>();
  #bytes = 0;
  /** Events before this one have no envelopes. */
  #bare = 0;
  #from: number;
  #capacity = WINDOW_EVENTS;
  #holds = 0;

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
    if (this.#bytes > WINDOW_BYTES) this.#dropEnvelopes();
    if (this.#events.length > this.#capacity && this.#holds === 0) this.#trim();
  }

  /**
   * Puts older events, ending right below `from`, in front. They stay for as many further events as the window
   * otherwise holds: what one caller had to be answered from is likely to be asked for again.
   */
  extend(older: readonly RecentEvent[]): void {
    this.#events = [...older, ...this.#events];
    for (const event of older) {
      if (!this.#byId.has(event.id)) this.#byId.set(event.id, event);
      this.#bytes += event.bytes;
    }
    this.#bare = 0;
    this.#from -= older.length;
    this.#dropEnvelopes();
    this.#capacity = this.#events.length + WINDOW_EVENTS;
  }

  /** Drops no event until the returned function is called: whoever extends a busy session's window must get there. */
  hold(): () => void {
    this.#holds++;
    return () => {
      this.#holds--;
    };
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
      if (event.fact === 'dropped') return 'truncated';
      facts.push(event.fact);
      bytes += event.bytes;
      if (facts.length > MAX_MISSED || bytes > MAX_MISSED_BYTES) return 'truncated';
    }
    return facts;
  }

  #dropEnvelopes(): void {
    for (; this.#bytes > WINDOW_BYTES && this.#bare < this.#events.length; this.#bare++) {
      const event = this.#events[this.#bare]!;
      if (event.fact) event.fact = 'dropped';
      this.#bytes -= event.bytes;
      event.bytes = 0;
    }
  }

  #trim(): void {
    const dropped = this.#events.splice(0, this.#events.length - Math.floor(WINDOW_EVENTS / 2));
    for (const event of dropped) {
      this.#bytes -= event.bytes;
      if (this.#byId.get(event.id) === event) this.#byId.delete(event.id);
    }
    this.#bare = Math.max(0, this.#bare - dropped.length);
    this.#from += dropped.length;
    this.#capacity = WINDOW_EVENTS;
  }
}
