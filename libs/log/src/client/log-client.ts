import { type Clock, systemClock } from '@longrein/clock';
import { randomUUID } from 'node:crypto';
import {
  type BaseEnvelope,
  type EventEnvelope,
  type LogOperation,
  type OwnerScope,
  type ServiceName,
  type StreamKind,
  liveSubjects,
  logSubject,
  partitionOf,
} from '@longrein/events';
import type { NatsConnection } from '@nats-io/nats-core';
import { checkId } from '../core/boundary.js';
import { assertStorable } from '../core/storable.js';
import {
  type AppendRequest,
  type AppendResult,
  type CallOptions,
  type ConsumeOptions,
  type CreateResult,
  type Delivery,
  type EventLog,
  type EventPage,
  type FollowOptions,
  type ForkRequest,
  type ForkResult,
  LogError,
  type NewEvent,
  type ReadRequest,
} from '../port/index.js';
import { DEFAULT_FOLLOW, type FollowDeps, type FollowLimits, assertSeq, follow } from './follower.js';
import { LiveHub } from './live-hub.js';
import { pagesFrom } from './pages.js';
import { type ConsumeDeps, type ConsumeLimits, DEFAULT_CONSUME, consumePartition } from './partition-consumer.js';
import { DEFAULT_RETRY, Requester, type RetryPolicy } from './requester.js';

/** How a client of the log is made. */
export interface LogClientOptions {
  /** On whose behalf appends are made; the connection's permissions must allow it. */
  readonly service: ServiceName;
  /** Default: `sessions`. */
  readonly kind?: StreamKind;
  /** Partition count of the deployment. */
  readonly partitions: number;
  readonly clock?: Clock;
  readonly retry?: Partial<RetryPolicy>;
  readonly follow?: Partial<FollowLimits>;
  readonly consume?: Partial<ConsumeLimits>;
  /** Default: `_INBOX`. */
  readonly inbox_prefix?: string;
  /** Told about every trouble that is survived by trying again; for logs and metrics. */
  readonly on_trouble?: (trouble: Error, where: string) => void;
}

/** The agents partition that holds the fleet's own stream, whatever the partition count. */
const FLEET_ID = '$fleet';

/** The log, reached through NATS. Requests go to the log service; followers and consumers read JetStream themselves. */
export class LogClient<Envelope extends BaseEnvelope = EventEnvelope> implements EventLog<Envelope> {
  readonly partitions: number;
  readonly #nc: NatsConnection;
  readonly #options: LogClientOptions;
  readonly #kind: StreamKind;
  readonly #clock: Clock;
  readonly #requester: Requester;

  constructor(nc: NatsConnection, options: LogClientOptions) {
    this.#nc = nc;
    this.#options = options;
    this.#kind = options.kind ?? 'sessions';
    this.#clock = options.clock ?? systemClock;
    this.partitions = options.partitions;
    this.#requester = new Requester(nc, this.#clock, { ...DEFAULT_RETRY, ...options.retry }, options.inbox_prefix);
  }

  /** `created` is false also when an earlier try of this very call created the session and its answer was lost. */
  async create(id: string, options: { parent_id?: string } & CallOptions = {}): Promise<CreateResult> {
    const body = { ...this.#named(id), parent_id: options.parent_id };
    return this.#call('create', this.#partitionOf(id), body, `create ${id}`, options);
  }

  async append(id: string, request: AppendRequest, options: CallOptions = {}): Promise<AppendResult<Envelope>> {
    const partition = this.#partitionOf(id);
    const { events, ...rest } = request as { readonly events: unknown };
    if (!Array.isArray(events)) throw new LogError('invalid_event', 'events must be a list');
    events.forEach((event: unknown, i) => assertStorable(event, `events[${i}]`, -1));
    const body = {
      ...this.#named(id),
      ...rest,
      // Made once: every try carries the same ids, so that all of them are the same append.
      events: events.map(identified),
    };
    return this.#call('append', partition, body, `append to ${id}`, options);
  }

  async read(id: string, request: ReadRequest, options: CallOptions = {}): Promise<EventPage<Envelope>> {
    assertSeq(request.from_seq, 'from_seq');
    return this.#call('read', this.#partitionOf(id), { ...this.#named(id), ...request }, `read ${id}`, options);
  }

  /** Everything from a seq to the session's end, page by page, the next page fetched while one is consumed. */
  async *readAll(id: string, request: ReadRequest, options: CallOptions = {}): AsyncGenerator<Envelope, void, void> {
    const pages = pagesFrom(request.from_seq, (from_seq) => this.read(id, { ...request, from_seq }, options));
    for await (const page of pages) yield* page.events;
  }

  async fork(request: ForkRequest, options: CallOptions = {}): Promise<ForkResult> {
    this.#partitionOf(request.from);
    const { from, to } = request;
    return this.#call('fork', this.#partitionOf(to), { ...request }, `fork ${from} to ${to}`, options);
  }

  async own(
    partition: number,
    claim: { scope: OwnerScope; owner: string },
    options: CallOptions = {},
  ): Promise<{ epoch: number }> {
    this.#assertPartition(partition);
    const what = `own partition ${partition} for ${claim.scope}`;
    return this.#call('own', partition, { ...claim }, what, options, true);
  }

  /** Throws `unknown_session` when the session does not exist (yet). */
  follow(id: string, { from_seq, signal }: FollowOptions): AsyncGenerator<Envelope, void, void> {
    const prepare = (): FollowDeps<Envelope> => {
      assertSeq(from_seq, 'from_seq');
      return {
        hub: LiveHub.of(this.#nc),
        subject: liveSubjects(this.#kind, this.#partitionOf(id), id),
        readPage: (from) => this.read(id, { from_seq: from }, signal ? { signal } : {}),
        clock: this.#clock,
        limits: { ...DEFAULT_FOLLOW, ...this.#options.follow },
      };
    };
    return follow(prepare, from_seq, signal);
  }

  consume(options: ConsumeOptions): AsyncGenerator<Delivery<Envelope>, void, void> {
    const prepare = (): ConsumeDeps => {
      this.#assertPartition(options.partition);
      return {
        nc: this.#nc,
        kind: this.#kind,
        clock: this.#clock,
        limits: { ...DEFAULT_CONSUME, ...this.#options.consume },
        inboxPrefix: this.#options.inbox_prefix,
        onTrouble: this.#options.on_trouble,
      };
    };
    return consumePartition(prepare, options);
  }

  /** Fails pending requests and stops listening for replies. Followers and consumers end by their signals. */
  close(): void {
    this.#requester.close();
  }

  async #call<Answer>(
    operation: LogOperation,
    partition: number,
    body: Record<string, unknown>,
    what: string,
    { deadline_ms, signal }: CallOptions,
    latestOnly = false,
  ): Promise<Answer> {
    const { events, ...rest } = body;
    assertStorable(rest, 'request');
    return this.#requester.call<Answer>({
      subject: logSubject(this.#kind, partition, operation, this.#options.service),
      body: JSON.stringify(events === undefined ? rest : { ...rest, events }),
      what,
      latest_only: latestOnly,
      ...(deadline_ms === undefined ? {} : { deadline_ms }),
      ...(signal ? { signal } : {}),
    });
  }

  #named(id: string): Record<string, string> {
    return this.#kind === 'sessions' ? { session_id: id } : { agent_id: id };
  }

  #partitionOf(id: string): number {
    checkId(this.#kind, id);
    return this.#kind === 'agents' && id === FLEET_ID ? 0 : partitionOf(id, this.partitions);
  }

  #assertPartition(partition: number): void {
    if (Number.isInteger(partition) && partition >= 0 && partition < this.partitions) return;
    throw new LogError('invalid_event', `partition must be 0 to ${this.partitions - 1}, got ${partition}`);
  }
}

/** The event with an id. What is no event stays as it is, for the log to refuse. */
function identified(event: unknown): unknown {
  if (typeof event !== 'object' || event === null) return event;
  return (event as NewEvent).event_id === undefined ? { ...event, event_id: randomUUID() } : event;
}
