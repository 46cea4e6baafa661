import type { BaseEnvelope } from '@longrein/events';

/** Events that arrived live while older ones were still being read, by seq. Bounded: on overflow it forgets all. */
export class LiveBuffer {
  readonly #events = new Map<number, { event: BaseEnvelope; bytes: number }>();
  #bytes = 0;

  constructor(
    private readonly maxEvents: number,
    private readonly maxBytes: number,
  ) {}

  get size(): number {
    return this.#events.size;
  }

  /** Whether the event was kept; if not, everything was dropped and has to be read instead. */
  add(event: BaseEnvelope, bytes: number): boolean {
    if (this.#events.has(event.seq)) return true;
    if (this.#events.size >= this.maxEvents || this.#bytes + bytes > this.maxBytes) {
      this.#events.clear();
      this.#bytes = 0;
      return false;
    }
    this.#events.set(event.seq, { event, bytes });
    this.#bytes += bytes;
    return true;
  }

  /** Removes and returns the event of this seq. */
  take(seq: number): BaseEnvelope | undefined {
    const entry = this.#events.get(seq);
    if (!entry) return undefined;
    this.#events.delete(seq);
    this.#bytes -= entry.bytes;
    return entry.event;
  }

  /** Removes everything below a seq. */
  forgetBelow(seq: number): void {
    for (const known of [...this.#events.keys()]) if (known < seq) this.take(known);
  }
}
