import { type StreamKind, sessionSubjects, streamName } from '@longrein/events';
import { LogError } from '../port/index.js';
import { type EventLinks, type PlacedEvent, placeOf } from './event-links.js';
import type { StreamApi } from './stream-api.js';

type Level = keyof EventLinks;

/** Links from the longest stride to the shortest. */
const FACT_LEVELS: readonly Level[] = ['fact4096', 'fact256', 'fact16', 'previousFact'];
const ALL_LEVELS: readonly Level[] = [...FACT_LEVELS, 'previous'];

/** Follows the links of one session's events backwards from its last one. One walk serves one read. */
export class SessionWalk {
  readonly #fetched = new Map<number, Promise<PlacedEvent | undefined>>();

  private constructor(
    private readonly api: StreamApi,
    private readonly stream: string,
    /** The session's last event when the walk began. */
    readonly tip: PlacedEvent,
  ) {
    this.#fetched.set(tip.sequence, Promise.resolve(tip));
  }

  /** Begins at the session's last event as the stream's leader has it; nothing when the session does not exist. */
  static async begin(
    api: StreamApi,
    kind: StreamKind,
    partition: number,
    id: string,
  ): Promise<SessionWalk | undefined> {
    const stream = streamName(kind, partition);
    const message = await api.get(stream, { last_by_subj: sessionSubjects(kind, partition, id) });
    return message && new SessionWalk(api, stream, placeOf(message));
  }

  /** The earliest event with at least this seq. Takes a number of hops that grows with the logarithm of the distance. */
  atLeastSeq(seq: number): Promise<PlacedEvent> {
    return this.#descend(this.tip, ALL_LEVELS, (event) => event.seq >= seq);
  }

  /** The earliest fact with at least this seq, or nothing. */
  async factAtLeastSeq(seq: number): Promise<PlacedEvent | undefined> {
    const from = await this.lastFact();
    return from && from.seq >= seq ? this.#descend(from, FACT_LEVELS, (event) => event.seq >= seq) : undefined;
  }

  /** The fact of this ordinal, which must exist. */
  async factOfOrdinal(ordinal: number): Promise<PlacedEvent> {
    const from = await this.lastFact();
    if (!from) throw new LogError('unavailable', `${this.stream}: fact ${ordinal} of the session is gone`);
    return this.#descend(from, FACT_LEVELS, (event) => event.ordinal >= ordinal);
  }

  /** The session's last fact. */
  async lastFact(): Promise<PlacedEvent | undefined> {
    return this.tip.isFact ? this.tip : this.#follow(this.tip.links.previousFact);
  }

  /**
   * The events of a seq range, ascending, fetched along the links: stretches between every sixteenth fact in parallel.
   * Chunks that have expired are left out.
   */
  async range(from: number, to: PlacedEvent, factsOnly: boolean): Promise<PlacedEvent[]> {
    const collected: Promise<PlacedEvent[]>[] = [];
    let end: PlacedEvent | undefined = to;
    while (end && end.seq >= from) {
      const stop: number | undefined = end.links.fact16;
      collected.push(inParallel(this.#stretch(end, stop, from, factsOnly)));
      end = await this.#follow(stop);
    }
    return (await Promise.all(collected)).flat().sort((a, b) => a.seq - b.seq);
  }

  /** `end` and what lies between it and the event at `stop`, exclusive. */
  async #stretch(end: PlacedEvent, stop: number | undefined, from: number, factsOnly: boolean): Promise<PlacedEvent[]> {
    const runs: Promise<PlacedEvent[]>[] = [];
    let event: PlacedEvent | undefined = end;
    while (event && event.seq >= from) {
      const { previous, previousFact } = event.links;
      if (!factsOnly || event.isFact) runs.push(Promise.resolve([event]));
      if (!factsOnly && previous !== previousFact) runs.push(inParallel(this.#chunks(previous, previousFact, from)));
      if (previousFact === stop) break;
      event = await this.#follow(previousFact);
    }
    return (await Promise.all(runs)).flat();
  }

  /** The run of chunks that ends at `last` and began after the event at `stop`. */
  async #chunks(last: number | undefined, stop: number | undefined, from: number): Promise<PlacedEvent[]> {
    const chunks: PlacedEvent[] = [];
    for (let at = last; at !== undefined && at !== stop;) {
      const chunk = await this.#follow(at);
      if (!chunk || chunk.seq < from) break;
      chunks.push(chunk);
      at = chunk.links.previous;
    }
    return chunks;
  }

  async #descend(
    start: PlacedEvent,
    levels: readonly Level[],
    wanted: (event: PlacedEvent) => boolean,
  ): Promise<PlacedEvent> {
    let current = start;
    for (const level of levels) {
      for (;;) {
        const earlier = await this.#follow(current.links[level]);
        if (!earlier || !wanted(earlier)) break;
        current = earlier;
      }
    }
    return current;
  }

  #follow(sequence: number | undefined): Promise<PlacedEvent | undefined> {
    if (sequence === undefined) return Promise.resolve(undefined);
    let fetched = this.#fetched.get(sequence);
    if (!fetched) {
      fetched = this.api.getStored(this.stream, sequence).then((message) => message && placeOf(message));
      this.#fetched.set(sequence, fetched);
    }
    return fetched;
  }
}

/** A promise that is awaited later, perhaps never, because another part failed first: its own failure is then no news. */
function inParallel<Value>(promise: Promise<Value>): Promise<Value> {
  promise.catch(() => undefined);
  return promise;
}
