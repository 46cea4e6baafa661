import {
  type BaseEnvelope,
  type EventDefinition,
  type OwnerScope,
  type StreamKind,
  PARTITION_ID,
  streamName,
} from '@longrein/events';
import { type PreparedEvent, type RecentEvent, type Timestamp, SessionHead, systemEvent } from '../core/index.js';
import { type Checkpoint, type Selection, CheckpointMismatch } from '../port/index.js';
import { Bell } from './bell.js';

/** Where ids and times come from. */
export interface Sources {
  readonly now: Timestamp;
  readonly newId: () => string;
}

/** An event in its partition. */
export interface StoredEvent {
  /** From 1. */
  readonly sequence: number;
  /** Term of the owner that wrote it. */
  readonly incarnation: string;
  readonly envelope: BaseEnvelope;
  readonly definition: EventDefinition;
  readonly bytes: number;
  /** What a consumer that stands here remembers: this event, or for a chunk the fact before it, as chunks expire. */
  readonly checkpoint: Checkpoint;
}

/** One partition's events in the order they were stored, and the heads of its sessions. */
export class MemoryPartition {
  readonly stream: string;
  readonly bell = new Bell();
  readonly #events: StoredEvent[] = [];
  readonly #sessions = new Map<string, StoredEvent[]>();
  readonly #owners = new Map<OwnerScope, { epoch: number; owner: string }>();
  #heads = new Map<string, SessionHead>();
  #incarnation = '';

  constructor(
    private readonly kind: StreamKind,
    partition: number,
    private readonly sources: Sources,
  ) {
    this.stream = streamName(kind, partition);
    this.open();
  }

  /** Starts a new owner's term: nothing the old owner kept in memory is left. */
  open(): void {
    this.#heads = new Map();
    this.#incarnation = this.sources.newId();
    this.#storeControl('partition/opened', { incarnation: this.#incarnation });
  }

  /** Sequence of the last event. */
  get lastSequence(): number {
    return this.#events.length;
  }

  /** The event of this sequence. */
  at(sequence: number): StoredEvent | undefined {
    return this.#events[sequence - 1];
  }

  /** Events of a session by seq; nothing when there is no such session. */
  session(id: string): readonly StoredEvent[] | undefined {
    return this.#sessions.get(id);
  }

  /** Where a session stands; nothing when there is no such session. */
  head(id: string): SessionHead | undefined {
    const known = this.#heads.get(id);
    const events = known ? undefined : this.#sessions.get(id);
    if (!events) return known;
    const facts = events.filter(isFact).length;
    const head = new SessionHead(id, events.length - 1, facts - 1);
    this.#heads.set(id, head);
    return head;
  }

  /** Makes a head's window reach back to a seq. */
  extend(head: SessionHead, from: number): void {
    const older = this.#sessions.get(head.id)?.slice(from, head.window.from) ?? [];
    head.window.extend(older.map(recent));
  }

  /** Stores a session's next events. */
  store(id: string, events: readonly PreparedEvent[]): void {
    const head = this.head(id) ?? new SessionHead(id, -1, -1);
    this.#heads.set(id, head);
    for (const event of events) {
      const stored = this.#place(id, event);
      head.push(stored.envelope, isFact(stored), stored.bytes);
    }
    if (events.length > 0) this.bell.ring();
  }

  /** The epoch in force for a scope, once it has an owner. */
  epoch(scope: OwnerScope | undefined): number | undefined {
    return scope && this.#owners.get(scope)?.epoch;
  }

  /** Gives a scope a new owner, under the stream sequence of the event that says so, or confirms the one it has. */
  own(scope: OwnerScope, owner: string): number {
    const current = this.#owners.get(scope);
    if (current?.owner === owner) return current.epoch;
    const others = [...this.#owners].filter(([other]) => other !== scope).map(([other, { epoch }]) => [other, epoch]);
    const payload = { scope, owner, epochs: Object.fromEntries(others) as Record<string, number> };
    const { sequence } = this.#storeControl('owner/changed', payload);
    this.#owners.set(scope, { epoch: sequence, owner });
    return sequence;
  }

  /** Throws `CheckpointMismatch` unless the stream holds what the checkpoint says. */
  verify(checkpoint: Checkpoint): void {
    if (checkpoint.stream !== this.stream) throw new CheckpointMismatch(checkpoint, `the events of ${this.stream}`);
    const event = this.at(checkpoint.sequence);
    if (!event) throw new CheckpointMismatch(checkpoint, `nothing (it ends at ${this.lastSequence})`);
    if (event.envelope.id !== checkpoint.event_id)
      throw new CheckpointMismatch(checkpoint, `event ${event.envelope.id}`);
    if (event.incarnation !== checkpoint.incarnation) {
      throw new CheckpointMismatch(checkpoint, `that event under term ${event.incarnation}`);
    }
  }

  #storeControl(type: string, payload: unknown): StoredEvent {
    const { now, newId } = this.sources;
    const seq = this.#sessions.get(PARTITION_ID)?.length ?? 0;
    const event = systemEvent(this.kind, PARTITION_ID, { id: newId(), seq, at: now(), type, payload });
    const stored = this.#place(PARTITION_ID, event);
    this.bell.ring();
    return stored;
  }

  #place(id: string, { body, definition }: PreparedEvent): StoredEvent {
    const sequence = this.#events.length + 1;
    // Read back from its JSON, as every other log stores it; frozen, because all readers share it.
    const envelope = deepFreeze(JSON.parse(body.toString()) as BaseEnvelope);
    const own = { stream: this.stream, incarnation: this.#incarnation, sequence, event_id: envelope.id };
    const checkpoint = definition.class === 'fact' ? own : this.#events.at(-1)!.checkpoint;
    const stored = { sequence, incarnation: this.#incarnation, envelope, definition, bytes: body.length, checkpoint };
    this.#events.push(stored);
    const session = this.#sessions.get(id);
    if (session) session.push(stored);
    else this.#sessions.set(id, [stored]);
    return stored;
  }
}

/** Whether an event is a fact, i.e. no chunk. */
export function isFact({ definition }: StoredEvent): boolean {
  return definition.class === 'fact';
}

/** Whether a consumer asked for this event. */
export function isSelected(event: StoredEvent, select: Selection): boolean {
  if (select === 'all') return true;
  return isFact(event) && (select === 'facts' || event.definition.family === select.family);
}

function recent(event: StoredEvent): RecentEvent {
  const { seq, id, type, at } = event.envelope;
  const fact = isFact(event);
  return { seq, id, type, at, fact: fact ? event.envelope : undefined, bytes: fact ? event.bytes : 0 };
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) deepFreeze(member);
    Object.freeze(value);
  }
  return value;
}
