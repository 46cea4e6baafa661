import type { EventEnvelope, PayloadOf, SessionEventType } from '@longrein/events';
import { definitionOf } from '@longrein/events';
import type { Append, ProposedEvent } from '../decisions/types.js';
import { evolve, fold, initialState } from '../folds/evolve.js';
import type { SessionState } from '../folds/state.js';

/** When a journal begins: its events are a millisecond apart. */
const START = Date.UTC(2026, 0, 1);

/**
 * The log of one session for pure tests: checks every payload against its schema and every `expect` as the log does,
 * numbers the events, and folds them as they come.
 */
export class Journal {
  readonly events: EventEnvelope[] = [];
  state: SessionState = initialState();
  #batches = 0;

  constructor(readonly session_id = 's1') {
    this.put('session/created', {});
  }

  /** A journal that holds these events of a session, from its first on. */
  static of(events: readonly EventEnvelope[]): Journal {
    const journal = new Journal(events[0]?.session_id);
    for (const event of events.slice(1)) journal.#add(event);
    return journal;
  }

  /** Appends one event without a condition. */
  put<Type extends SessionEventType>(type: Type, payload: PayloadOf<Type>, extra: Partial<EventEnvelope> = {}): number {
    return this.#store({ type, payload }, extra);
  }

  /** Appends an event that no version of ours knows. */
  putUnknown(type: string, payload: unknown): number {
    return this.#write(type, payload, {});
  }

  /**
   * Appends what a decision says; `stored` stores only that many of the events, as when the log's owner dies.
   *
   * @returns the seqs of the stored events, or null when `expect` does not hold.
   */
  append({ events, expect }: Append, stored = events.length): number[] | null {
    if (events.length === 0 || events.length > 64)
      throw new Error(`an append has 1 to 64 events, not ${events.length}`);
    const conflicts = this.events.filter(
      ({ seq, type }) => seq > expect.seq && (expect.none_of as readonly string[]).includes(type),
    );
    if (conflicts.length > 0) return null;
    const id = `b${this.#batches++}`;
    return events.slice(0, stored).map((event, index) => {
      return this.#store(event, events.length > 1 ? { batch: { id, index, count: events.length } } : {});
    });
  }

  /** The state once these events are stored right after it. */
  preview(state: SessionState, events: readonly ProposedEvent[]): SessionState {
    const stored = new Journal();
    stored.events.length = 0;
    return fold(
      events.map(({ type, payload }, index) => {
        const seq = state.last_seq + 1 + index;
        return { id: `preview-${index}`, session_id: this.session_id, seq, at: '', type, payload, v: 1 };
      }),
      state,
    );
  }

  /** Types in order, chunks left out. */
  types(): string[] {
    return this.events.map((event) => event.type).filter((type) => type !== 'assistant/chunk');
  }

  /** Payloads of a type in order. */
  payloads<Type extends SessionEventType>(type: Type): PayloadOf<Type>[] {
    return this.events.filter((event) => event.type === type).map((event) => event.payload as PayloadOf<Type>);
  }

  #store({ type, payload }: ProposedEvent, extra: Partial<EventEnvelope>): number {
    const definition = definitionOf('sessions', type);
    if (definition === undefined) throw new Error(`${type} is not in the vocabulary`);
    // As stored: through JSON, so that nothing lives on by reference or as undefined.
    return this.#write(type, definition.schema.parse(JSON.parse(JSON.stringify(payload))), extra);
  }

  #write(type: string, payload: unknown, extra: Partial<EventEnvelope>): number {
    const seq = this.events.length;
    const at = new Date(START + seq).toISOString().replace('Z', '000Z');
    const event = { id: `e${seq}`, session_id: this.session_id, seq, at, type, payload, v: 1, ...extra };
    return this.#add(event);
  }

  #add(event: EventEnvelope): number {
    this.events.push(event);
    this.state = evolve(this.state, event);
    return event.seq;
  }
}
