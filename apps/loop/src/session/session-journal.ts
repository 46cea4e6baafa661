import type { Clock } from '@longrein/clock';
import { type EventEnvelope, definitionOf } from '@longrein/events';
import { type AppendResult, type NewEvent, type SessionLog, isLogError } from '@longrein/log';
import { type Append, type ProposedEvent, type SessionState, canonicalJson, evolve, fold } from '@longrein/session';
import { randomUUID } from 'node:crypto';
import { backoff } from '../core/backoff.js';
import { FULL_BACKOFF } from './actor-deps.js';
import { eventIds } from './event-id.js';
import { type SessionLoader, withPosition } from './session-loader.js';
import type { TailChunk } from './tail-chunk.js';

/** What a journal rewrites content with before it appends: the log's own scrubbers. */
export interface ContentScrubber {
  content(shape: NonNullable<ReturnType<typeof definitionOf>>['content'], payload: unknown): unknown;
}

/** Delay between tries to append a chunk. */
const CHUNK_RETRY = { base_ms: 100, cap_ms: 5_000 };

/** What a journal needs of its surroundings. */
export interface JournalDeps {
  readonly log: SessionLog;
  readonly loader: SessionLoader;
  readonly scrubber: ContentScrubber;
  readonly clock: Clock;
  /** Epoch of the loop on the session's partition. */
  readonly epoch: number;
  /** Called after the state moved because of someone else. */
  readonly changed: () => void;
}

/** How an append ended: stored, or refused because of facts the decision had not seen, which the state now holds. */
export type AppendOutcome = 'stored' | 'conflict';

/**
 * One session's state next to its log. Facts come in from three sides (the partition's consumer, the answers to
 * appends, reads), each without gaps from where it starts; so the state is at every moment the fold of a prefix of the
 * session, and whatever is at or below its position is old.
 */
export class SessionJournal {
  #state: SessionState;
  /** The last state that was compared with the log. */
  #verified: SessionState;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(
    readonly sessionId: string,
    private readonly deps: JournalDeps,
    state: SessionState,
    verified: SessionState,
  ) {
    this.#state = state;
    this.#verified = verified;
  }

  get state(): SessionState {
    return this.#state;
  }

  get verified(): SessionState {
    return this.#verified;
  }

  /** Takes a fact from the partition's consumer, in its order. */
  absorb(event: EventEnvelope): void {
    const before = this.#state;
    this.#state = evolve(before, event);
    if (this.#state !== before) this.deps.changed();
  }

  /** The state once these events are stored right after it. */
  preview(state: SessionState, events: readonly ProposedEvent[]): SessionState {
    const at = new Date(this.deps.clock.now()).toISOString();
    const stored = events.map((event, index) => {
      const [id, seq] = [`preview-${index}`, state.last_seq + 1 + index];
      return envelope(this.#scrubbed(event), { id, session_id: this.sessionId, seq, at });
    });
    return fold(stored, state);
  }

  /**
   * Appends what was decided, under the condition it was decided, with the text that belongs right before it. Throws
   * `LogError` for all but a conflict.
   */
  append({ events: decided, expect }: Append, tail?: TailChunk): Promise<AppendOutcome> {
    return this.#exclusively(async () => {
      const decidedOn = this.#state;
      const { log, epoch } = this.deps;
      const ids = eventIds(this.sessionId, decidedOn, decided, epoch);
      const facts = decided.map((event, index) => ({ ...this.#scrubbed(event), event_id: ids[index]! }));
      const events = [...(tail?.events ?? []), ...facts];
      try {
        const since = tail?.since(decidedOn.last_seq) ?? decidedOn.last_seq;
        const result = await log.append(this.sessionId, { events, expect, epoch, since });
        tail?.stored();
        await this.#stored(events, result);
        return 'stored';
      } catch (error) {
        if (!isLogError(error, 'conflict')) throw error;
        const { missed, stored } = error.details;
        // What is stored in part is stored from its beginning on.
        if (stored && stored.length > 0) tail?.stored();
        if (!Array.isArray(missed) || missed.length === 0 || stored) await this.#read();
        else this.#take(missed as EventEnvelope[]);
        return 'conflict';
      }
    });
  }

  /**
   * Appends streamed text. Chunks are no facts: nothing depends on them, and nothing they meet is a conflict. Tried
   * until stored or aborted, because the chunks of a run are the run; the id and `since` of the first try keep it one.
   */
  chunk(text: string, signal: AbortSignal): Promise<void> {
    return this.#exclusively(async () => {
      const { log, epoch, clock } = this.deps;
      const events = [{ type: 'assistant/chunk', payload: { text }, event_id: randomUUID() }];
      const since = this.#state.last_seq;
      for (let attempt = 0; !signal.aborted; attempt++) {
        try {
          const { missed, seq } = await log.append(this.sessionId, { events, epoch, since });
          if (missed === 'truncated') await this.#read();
          else this.#take(missed);
          this.#state = withPosition(this.#state, seq);
          return;
        } catch (error) {
          const full = isLogError(error, 'storage_full');
          if (!isLogError(error) || !(error.retryable || full)) throw error;
          await clock
            .sleep(backoff(attempt, full ? FULL_BACKOFF : CHUNK_RETRY, Math.random()), signal)
            .catch(() => undefined);
        }
      }
    });
  }

  /** Catches up with the log by reading it: after an answer that got lost, and for states that were set aside. */
  resync(): Promise<void> {
    return this.#exclusively(() => this.#read());
  }

  /**
   * Compares the running state with one folded afresh from the state of the last comparison, or load, and the facts
   * that the log holds since. Returns what is different, after taking the fresh state; nothing when they are equal.
   */
  verify(): Promise<string | undefined> {
    return this.#exclusively(async () => {
      const since: EventEnvelope[] = [];
      let fresh = this.#verified;
      let behind: boolean;
      do {
        const { facts, last_seq } = await this.deps.loader.factsAfter(this.sessionId, fresh.last_fact_seq);
        since.push(...facts);
        fresh = withPosition(fold(facts, fresh), last_seq);
        // The consumer may have brought the running state further than this read went.
        behind = fresh.last_fact_seq < this.#state.last_fact_seq;
        if (behind && facts.length === 0) break;
      } while (behind);
      const running = fold(since, this.#state);
      const difference = behind ? 'a position beyond the end of the log' : differenceOf(running, fresh);
      this.#state = this.#verified = fresh;
      return difference;
    });
  }

  async #stored(events: readonly NewEvent[], { seq, at, missed }: AppendResult): Promise<void> {
    const first = seq - events.length + 1;
    const torn = missed !== 'truncated' && missed.some((fact) => fact.seq >= first);
    if (missed === 'truncated' || torn) return this.#read();
    this.#take(missed);
    const count = events.length;
    const batchId = events[0]!.event_id!;
    for (const [index, event] of events.entries()) {
      const [id, seq] = [event.event_id!, first + index];
      const batch = count > 1 ? { id: batchId, index, count } : undefined;
      this.#state = evolve(this.#state, envelope(event, { id, session_id: this.sessionId, seq, at }, batch));
    }
  }

  /** The event as the log will keep it. */
  #scrubbed({ type, payload }: ProposedEvent): { readonly type: ProposedEvent['type']; readonly payload: unknown } {
    return { type, payload: this.deps.scrubber.content(definitionOf('sessions', type)?.content ?? {}, payload) };
  }

  #take(facts: readonly EventEnvelope[]): void {
    for (const fact of facts) this.#state = evolve(this.#state, fact);
  }

  async #read(): Promise<void> {
    const { facts, last_seq } = await this.deps.loader.factsAfter(this.sessionId, this.#state.last_fact_seq);
    this.#state = withPosition(fold(facts, this.#state), last_seq);
  }

  /** One request at a time, so that positions are never ahead of what was seen. */
  #exclusively<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#queue.then(work);
    this.#queue = turn.catch(() => undefined);
    return turn;
  }
}

/** An event as a fold takes it. */
function envelope(
  { type, payload }: Pick<NewEvent, 'type' | 'payload'>,
  place: Pick<EventEnvelope, 'id' | 'session_id' | 'seq' | 'at'>,
  batch?: EventEnvelope['batch'],
): EventEnvelope {
  return { ...place, type, payload, v: definitionOf('sessions', type)?.v ?? 1, ...(batch && { batch }) };
}

/** The parts of the state that differ, by name; the position of chunks is no part of a fold. */
function differenceOf(running: SessionState, fresh: SessionState): string | undefined {
  const parts = (Object.keys(fresh) as (keyof SessionState)[]).filter((part) => {
    if (part === 'last_seq' || running[part] === fresh[part]) return false;
    // The history carries a digest of itself: comparing costs the same at any length.
    if (part === 'history') return running.history.digest !== fresh.history.digest;
    return canonicalJson(running[part]) !== canonicalJson(fresh[part]);
  });
  return parts.length > 0 ? parts.join(', ') : undefined;
}
