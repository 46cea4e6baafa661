import type { BaseEnvelope, EventEnvelope, Family, OwnerScope } from '@longrein/events';

/** An event to append. */
export interface NewEvent {
  readonly type: string;
  readonly payload: unknown;
  /** Makes a retry the same event. Derive it from the cause where there is one; otherwise the client makes one. */
  readonly event_id?: string;
}

/** The condition under which the caller decided. */
export interface Expectation {
  /** Seq of the last event the decision knew. Chunks after it never conflict. */
  readonly seq: number;
  /** Only facts of these types after `seq` conflict. Without it any fact does. */
  readonly none_of?: readonly string[];
}

/** One append: all of its events, or the reason why none. */
export interface AppendRequest {
  /** 1 to 64 events of one session, stored next to each other. */
  readonly events: readonly NewEvent[];
  readonly expect?: Expectation;
  /** Epoch of the caller's scope on the partition (`own`). */
  readonly epoch?: number;
  /**
   * Seq up to which the caller has seen the session; -1 for nothing. `missed` reports facts above it, and a retry is
   * recognised by event ids above it: a retry keeps the `since` of the first try.
   */
  readonly since: number;
}

/** What an append answers, the first time and on every retry. */
export interface AppendResult<Envelope extends BaseEnvelope = EventEnvelope> {
  /** Seq of the append's last event. */
  readonly seq: number;
  /** When that event was stored. */
  readonly at: string;
  /** Facts between `since` and the append; `truncated` when they are too many to send along: read them. */
  readonly missed: readonly Envelope[] | 'truncated';
}

/** What part of a session to read. */
export interface ReadRequest {
  /** First seq wanted, inclusive. */
  readonly from_seq: number;
  /** At most this many events; a page may hold fewer. */
  readonly limit?: number;
  /** Leave out chunks. */
  readonly facts_only?: boolean;
}

/** Consecutive events of a session. */
export interface EventPage<Envelope extends BaseEnvelope = EventEnvelope> {
  readonly events: readonly Envelope[];
  /** Where to go on, or null when the page reached the session's end. */
  readonly next_seq: number | null;
  /** Seq of the session's last event when the page was read. */
  readonly last_seq: number;
}

/** Creates a session, or says that it is there already. */
export interface CreateResult {
  readonly created: boolean;
  /** Seq of the session's last event. */
  readonly last_seq: number;
}

/** What to fork. */
export interface ForkRequest {
  readonly from: string;
  /** Id of the child. */
  readonly to: string;
  /** Copy up to the last fact at or below this seq where no turn is open. Default: the end. */
  readonly boundary?: number;
}

/** Result of a fork. */
export interface ForkResult {
  /** The seq that was really copied up to. */
  readonly boundary: number;
  readonly last_seq: number;
}

/** Proof of a position in a partition: enough to notice that the stream behind it was replaced or cut. */
export interface Checkpoint {
  readonly stream: string;
  /** Incarnation of the log owner's term in which the event was written. */
  readonly incarnation: string;
  /** Stream sequence. */
  readonly sequence: number;
  readonly event_id: string;
}

/** Which events of a partition a consumer wants. */
export type Selection = 'all' | 'facts' | { readonly family: Family };

/** What a consumer receives, in stream order. */
export type Delivery<Envelope extends BaseEnvelope = EventEnvelope> =
  | { readonly kind: 'event'; readonly event: Envelope; readonly checkpoint: Checkpoint }
  /** Once: everything stored when consumption began has been delivered. */
  | { readonly kind: 'caught_up' };

/** How long and until when. */
export interface CallOptions {
  /** Give up after this many milliseconds, retries included. */
  readonly deadline_ms?: number;
  readonly signal?: AbortSignal;
}

/** What to follow. */
export interface FollowOptions {
  /** First seq wanted, inclusive; a seq that does not exist yet waits for it. */
  readonly from_seq: number;
  readonly signal?: AbortSignal;
}

/** What to consume. */
export interface ConsumeOptions {
  readonly partition: number;
  readonly select: Selection;
  /** Go on after this event; absent: from the beginning. Verified first, and again at every reconnect. */
  readonly after?: Checkpoint;
  readonly signal?: AbortSignal;
}

/**
 * The log as every service sees it: one stream of events per session, in partitions. Implemented in memory and on
 * JetStream; `@longrein/log/contract` holds both to the same behaviour. Everything here rejects with `LogError`.
 */
export interface EventLog<Envelope extends BaseEnvelope = EventEnvelope> {
  /** Partition count of the deployment. */
  readonly partitions: number;

  /** Appends seq 0 (`session/created`) unless the session exists. */
  create(id: string, options?: { parent_id?: string } & CallOptions): Promise<CreateResult>;

  /** Appends as the service this log was opened for. Retried until the deadline; a retry is the same append. */
  append(id: string, request: AppendRequest, options?: CallOptions): Promise<AppendResult<Envelope>>;

  /** Reads a page. Costs what the page holds, wherever in the session it lies. */
  read(id: string, request: ReadRequest, options?: CallOptions): Promise<EventPage<Envelope>>;

  /** Copies a session's past into a new session. Repeating it finishes or repeats the same fork. */
  fork(request: ForkRequest, options?: CallOptions): Promise<ForkResult>;

  /** Raises the epoch of a scope on a partition: appends under lower epochs are refused from then on. */
  own(
    partition: number,
    claim: { scope: OwnerScope; owner: string },
    options?: CallOptions,
  ): Promise<{ epoch: number }>;

  /** Replay then tail of one session, without gap or duplicate. Ends when the signal aborts. */
  follow(id: string, options: FollowOptions): AsyncIterable<Envelope>;

  /** Ordered consumption of a partition from a verified checkpoint. Ends when the signal aborts. */
  consume(options: ConsumeOptions): AsyncIterable<Delivery<Envelope>>;
}

/** The log of session streams. */
export type SessionLog = EventLog<EventEnvelope>;
