import type { NatsConnection } from '@nats-io/nats-core';
import { type StreamKind, sessionSubjects, streamName } from '@longrein/events';
import { DEFAULT_PAGE, MAX_PAGE, MAX_PAGE_BYTES } from '../core/index.js';
import { type ReadRequest, LogError } from '../port/index.js';
import { type PageEvent, type PlacedEvent, unplaced } from './event-links.js';
import { ReadAhead } from './read-ahead.js';
import { SessionWalk } from './session-walk.js';
import type { StreamApi } from './stream-api.js';
import { scan } from './stream-scan.js';

/** A page of stored events, not parsed. */
export interface RawPage {
  readonly events: readonly PageEvent[];
  readonly next_seq: number | null;
  readonly last_seq: number;
}

/** Pages up to this size are always walked, so that their cost does not depend on what else the partition holds. */
const WALK_LIMIT = 256;
/** Largest page that is walked in a sparse session. */
const SPARSE_PAGE = 1000;
/** Messages of the partition per message of the session up to which a scan is worth it. */
const DENSE = 8;
const REMEMBERED = 1024;

/**
 * Reads pages of sessions straight from the streams. Any replica can: nothing here depends on owning the partition.
 * Where a session's events lie close together they are scanned, elsewhere their links are walked; either way a page
 * costs what it holds.
 */
export class SessionReader {
  /** Where the last pages ended, so that reading on needs no search. */
  readonly #ends = new Map<string, { seq: number; sequence: number }>();

  readonly #ahead = new ReadAhead<PageEvent[]>();

  constructor(
    private readonly nc: NatsConnection,
    private readonly api: StreamApi,
    private readonly kind: StreamKind,
  ) {}

  /** Reads one page. Throws `unknown_session` and, for a bad range, `invalid_event`. */
  async page(partition: number, id: string, request: ReadRequest): Promise<RawPage> {
    const { from_seq: from, facts_only: factsOnly = false } = request;
    const limit = Math.min(request.limit ?? DEFAULT_PAGE, MAX_PAGE);
    requireInteger('from_seq', from, 0);
    requireInteger('limit', limit, 1);
    const walk = await SessionWalk.begin(this.api, this.kind, partition, id);
    if (!walk) throw new LogError('unknown_session', `${this.kind.slice(0, -1)} ${id} does not exist`);
    const last_seq = walk.tip.seq;
    if (from > last_seq) return { events: [], next_seq: null, last_seq };
    if (factsOnly) return finishPage(await this.#facts(walk, partition, id, from, limit), last_seq);
    const page = finishPage(await this.#all(walk, partition, id, from, limit), last_seq);
    if (page.next_seq !== null) this.#remember(`${partition}.${id}`, page.events.at(-1)!);
    return page;
  }

  async #all(walk: SessionWalk, partition: number, id: string, from: number, limit: number): Promise<PageEvent[]> {
    const { tip } = walk;
    const count = Math.min(limit, tip.seq - from + 1);
    const key = `${partition}.${id}`;
    const end = this.#ends.get(key);
    const isRemembered = end?.seq === from - 1;
    // A scan stops at the byte limit, a walk does not: pages of large events are walked once, then scanned on.
    if (count > WALK_LIMIT || isRemembered) {
      const start = isRemembered ? end.sequence + 1 : (await walk.atLeastSeq(from)).sequence;
      if (tip.sequence - start + 1 <= DENSE * (tip.seq - from + 1)) {
        const subject = sessionSubjects(this.kind, partition, id);
        const ahead = isRemembered ? this.#ahead.take(key, start) : undefined;
        const events = (await ahead)?.slice(0, count) ?? (await this.#scan(partition, subject, start, count, tip));
        if (isRemembered && events[0]!.seq !== from) {
          // Chunks expired, or the store was restored and the place holds something else now.
          this.#ends.delete(key);
          return this.#all(walk, partition, id, from, limit);
        }
        const next = finishPage(events, tip.seq);
        if (isRemembered && next.next_seq !== null) {
          // Whoever reads page after page will ask for the next one: it is fetched while this one travels.
          const after = next.events.at(-1)!.sequence + 1;
          this.#ahead.put(key, after, () => this.#scan(partition, subject, after, count, tip));
        }
        return events;
      }
    }
    const to = Math.min(from + Math.min(count, SPARSE_PAGE) - 1, tip.seq);
    return walk.range(from, to === tip.seq ? tip : await walk.atLeastSeq(to), false);
  }

  async #facts(walk: SessionWalk, partition: number, id: string, from: number, limit: number): Promise<PageEvent[]> {
    const [start, tip] = [await walk.factAtLeastSeq(from), await walk.lastFact()];
    if (!start || !tip) return [];
    const count = Math.min(limit, tip.ordinal - start.ordinal + 1);
    if (count > WALK_LIMIT && tip.sequence - start.sequence + 1 <= DENSE * (tip.ordinal - start.ordinal + 1)) {
      return this.#scan(partition, `${this.kind}.${partition}.${id}.fact.>`, start.sequence, count, tip);
    }
    const ordinal = start.ordinal + Math.min(count, SPARSE_PAGE) - 1;
    const end = ordinal === tip.ordinal ? tip : await walk.factOfOrdinal(ordinal);
    return walk.range(from, end, true);
  }

  async #scan(partition: number, subject: string, from: number, limit: number, tip: PlacedEvent): Promise<PageEvent[]> {
    const stream = streamName(this.kind, partition);
    const messages = await scan(this.nc, this.api, { stream, subject, from, limit, max_bytes: MAX_PAGE_BYTES });
    // A consumer may run on a replica ahead of the read's beginning; the page ends where the read began.
    const events = messages.filter((message) => message.sequence <= tip.sequence).map(unplaced);
    // Or on one behind it: an empty page would tell the caller that the session ends here.
    if (events.length === 0) throw new LogError('unavailable', `${stream}: a replica has not caught up; retry`);
    return events;
  }

  #remember(key: string, { seq, sequence }: PageEvent): void {
    this.#ends.delete(key);
    this.#ends.set(key, { seq, sequence });
    if (this.#ends.size > REMEMBERED) this.#ends.delete(this.#ends.keys().next().value!);
  }
}

/** Closes a page at the byte limit; a page always holds at least one event. */
function finishPage(events: readonly PageEvent[], last_seq: number): RawPage {
  let bytes = 0;
  let kept = 0;
  while (kept < events.length && (kept === 0 || bytes + events[kept]!.message.data.length <= MAX_PAGE_BYTES)) {
    bytes += events[kept++]!.message.data.length;
  }
  const page = events.slice(0, kept);
  const last = page.at(-1);
  if (!last) {
    // Only a read of facts can find nothing at or below the session's end: the rest is chunks.
    return { events: page, next_seq: null, last_seq };
  }
  const ended = last.seq >= last_seq;
  return { events: page, next_seq: ended ? null : last.seq + 1, last_seq };
}

function requireInteger(name: string, value: unknown, least: number): void {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < least) {
    throw new LogError('invalid_event', `${name} must be an integer from ${least}, got ${JSON.stringify(value)}`);
  }
}
