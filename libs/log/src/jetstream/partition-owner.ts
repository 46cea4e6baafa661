import { type NatsConnection, nuid } from '@nats-io/nats-core';
import {
  type BaseEnvelope,
  type OwnerScope,
  type ServiceName,
  type StreamKind,
  PARTITION_ID,
  eventSubject,
  ownerScope,
  streamName,
} from '@longrein/events';
import {
  type AppendDecision,
  type CheckedAppend,
  type PreparedEvent,
  type Scrubber,
  checkAppend,
  checkId,
  checkPlace,
  createdEvent,
  decideAppend,
  microsecondTimestamp,
} from '../core/index.js';
import {
  type AppendRequest,
  type AppendResult,
  type CreateResult,
  type ForkRequest,
  type ForkResult,
  LogError,
} from '../port/index.js';
import { ForkCopier } from './fork-copier.js';
import { HeadCache } from './head-cache.js';
import { LiveHead } from './live-head.js';
import { HEADER } from './names.js';
import { type ScopeOwner, type Term, loadScopes, openTerm, ownerChanged } from './partition-terms.js';
import type { PipelineEnd, PipelineOptions } from './pipeline-options.js';
import { Pipeline } from './pipeline.js';
import type { SessionReader } from './session-reader.js';
import type { StreamApi } from './stream-api.js';

/** What an owner works with. */
export interface OwnerDependencies {
  readonly nc: NatsConnection;
  readonly api: StreamApi;
  readonly reader: SessionReader;
  readonly scrubber: Scrubber;
  readonly partitions: number;
  readonly pipeline?: PipelineOptions;
  /** Told once when the partition is no longer ours. */
  readonly onEnd: (end: PipelineEnd, error: LogError) => void;
}

/** The one writer of a partition's stream, for one term. */
export class PartitionOwner {
  readonly #heads: HeadCache;
  readonly #forks: ForkCopier;
  #pipeline!: Pipeline;

  private constructor(
    private readonly deps: OwnerDependencies,
    readonly kind: StreamKind,
    readonly partition: number,
    readonly term: Term,
    private readonly scopes: Map<OwnerScope, ScopeOwner>,
  ) {
    this.#heads = new HeadCache(deps.api, kind, partition, () => this.#pipeline);
    this.#forks = new ForkCopier(deps.reader, deps.partitions, {
      store: (head, events) => this.#store(head, events, undefined),
      settled: (head) => this.#settled(head),
    });
  }

  /** Fences every earlier owner and takes over. Throws `unavailable` when the stream cannot be reached. */
  static async open(deps: OwnerDependencies, kind: StreamKind, partition: number): Promise<PartitionOwner> {
    const term = await openTerm(deps.nc, kind, partition);
    const scopes = await loadScopes(deps.api, kind, partition);
    const owner = new PartitionOwner(deps, kind, partition, term, scopes);
    const stream = streamName(kind, partition);
    owner.#pipeline = new Pipeline(
      deps,
      { stream, term: term.incarnation, last: term.epoch, mode: await deps.api.writeMode(stream) },
      { onEnd: deps.onEnd, onReset: () => owner.#reset() },
      deps.pipeline,
    );
    return owner;
  }

  /** Appends on behalf of a service. Resolves when the events are stored. */
  async append(
    service: ServiceName,
    id: string,
    request: AppendRequest,
    traceparent?: string,
  ): Promise<AppendResult<BaseEnvelope>> {
    this.#checkPlace(id);
    const append = checkAppend(this.kind, service, request, this.deps.scrubber);
    for (;;) {
      const head = this.#heads.peek(id) ?? (await this.#existing(id));
      if (head.retired) continue;
      if (head.forking) {
        await this.#forks.finish(head);
        continue;
      }
      const decision = this.#decide(head, append, service);
      switch (decision.kind) {
        case 'load':
          await this.#heads.extend(head, decision.from);
          continue;
        case 'ahead':
          await this.#pipeline.verify();
          throw decision.error;
        case 'refuse':
          // What was refused because of events still on their way must not be said before they are stored.
          await this.#settled(head);
          await this.#standing(decision.error);
          throw decision.error;
        case 'stored':
          await this.#settled(head);
          return { seq: decision.seq, at: decision.at, missed: decision.missed };
        case 'store': {
          this.#heads.touch(head);
          this.#store(head, decision.events, traceparent);
          const { envelope } = decision.events.at(-1)!;
          await this.#settled(head);
          return { seq: envelope.seq, at: envelope.at, missed: decision.missed };
        }
      }
    }
  }

  /** Creates the session unless it exists. */
  async create(id: string, parentId?: string): Promise<CreateResult> {
    this.#checkPlace(id);
    if (parentId !== undefined) checkId(this.kind, parentId);
    // A second caller may have created it while this one waited for the answer that it does not exist.
    const existing = (await this.#heads.get(id)) ?? this.#heads.peek(id);
    if (existing) {
      await this.#settled(existing);
      return { created: false, last_seq: existing.lastSeq };
    }
    const head = LiveHead.unborn(id);
    const parent = parentId === undefined ? {} : { parent_id: parentId };
    this.#store(head, [createdEvent(this.kind, id, { ...this.#sources(), ...parent })], undefined);
    this.#heads.put(head);
    await this.#settled(head);
    return { created: true, last_seq: 0 };
  }

  /** Copies a session's past into a new one that lives here. */
  async fork(request: ForkRequest): Promise<ForkResult> {
    if (this.kind !== 'sessions') throw new LogError('invalid_event', 'only sessions can be forked');
    checkId(this.kind, request.from);
    this.#checkPlace(request.to);
    const existing = await this.#heads.get(request.to);
    if (existing) return this.#forks.repeat(existing, request);
    const boundary = await this.#forks.boundary(request);
    const raced = (await this.#heads.get(request.to)) ?? this.#heads.peek(request.to);
    if (raced) return this.#forks.repeat(raced, request);
    const head = LiveHead.unborn(request.to);
    head.forking = true;
    const fork = { from: request.from, boundary };
    const created = createdEvent(this.kind, request.to, { ...this.#sources(), parent_id: request.from, fork });
    this.#store(head, [created], undefined);
    this.#heads.put(head);
    await this.#forks.finish(head);
    return { boundary, last_seq: boundary + 1 };
  }

  /** Gives a scope a new owner, or confirms the one it has. */
  async own(claim: { scope: OwnerScope; owner: string }): Promise<{ epoch: number }> {
    const scope = ownerScope.safeParse(claim.scope);
    if (!scope.success) throw new LogError('invalid_event', `scope must be one of ${ownerScope.options.join(', ')}`);
    if (typeof claim.owner !== 'string' || claim.owner.length < 1 || claim.owner.length > 256) {
      throw new LogError('invalid_event', 'owner must be a string of 1 to 256 characters');
    }
    const current = this.scopes.get(scope.data);
    if (current?.owner === claim.owner) {
      await this.#pipeline.settled(current.epoch);
      return { epoch: current.epoch };
    }
    const { definition, body, envelope } = ownerChanged(this.kind, claim, this.scopes);
    const epoch = this.#pipeline.next;
    this.#pipeline.submit([
      {
        subject: eventSubject(this.kind, this.partition, PARTITION_ID, definition.class, definition.family),
        messageId: `${PARTITION_ID}/${envelope.id}`,
        headers: `${HEADER.type}: ${definition.type}\r\n${HEADER.term}: ${this.term.incarnation}\r\n`,
        body,
      },
    ]);
    // From here on, not from the acknowledgement: what the old owner sends next is decided after this in the log.
    const claimed: ScopeOwner = { epoch, owner: claim.owner, before: current };
    this.scopes.set(scope.data, claimed);
    await this.#pipeline.settled(epoch);
    claimed.before = undefined;
    return { epoch };
  }

  /** Checks, e.g. after a reconnect, that the stream still ends where this owner believes. */
  reconcile(): Promise<void> {
    return this.#pipeline.reconcile();
  }

  /** Ends the term without waiting. Appends whose outcome is unknown are answered `moved`. */
  stop(): void {
    this.#pipeline.stop();
  }

  #checkPlace(id: string): void {
    checkPlace(this.kind, id, this.partition, this.deps.partitions);
  }

  /** What was decided on top of refused events is void: heads, and claims that did not get stored. */
  #reset(): void {
    this.#heads.clear();
    for (const [scope, owner] of this.scopes) {
      let stored: ScopeOwner | undefined = owner;
      while (stored && stored.epoch > this.#pipeline.acknowledged) stored = stored.before;
      if (stored) this.scopes.set(scope, stored);
      else this.scopes.delete(scope);
    }
  }

  #decide(head: LiveHead, append: CheckedAppend, service: ServiceName): AppendDecision {
    const scope = ownerScope.safeParse(service);
    return decideAppend(head, append, {
      kind: this.kind,
      ...this.#sources(),
      epoch: scope.success ? this.scopes.get(scope.data)?.epoch : undefined,
    });
  }

  async #existing(id: string): Promise<LiveHead> {
    const head = await this.#heads.get(id);
    if (head) return head;
    throw new LogError('unknown_session', `${this.kind.slice(0, -1)} ${id} does not exist; create it first`);
  }

  /** An epoch that fences must be stored before anybody hears of it. */
  async #standing({ code, details }: LogError): Promise<void> {
    if (code === 'fenced' && details.epoch !== undefined) await this.#pipeline.settled(details.epoch);
  }

  #store(head: LiveHead, events: readonly PreparedEvent[], traceparent: string | undefined): void {
    if (head.retired) throw new LogError('unavailable', `session ${head.id}: its end was refused meanwhile; retry`);
    const base = this.#pipeline.next;
    this.#pipeline.submit(head.outgoing(this.kind, this.partition, this.term.incarnation, base, events, traceparent));
    head.take(base, events);
  }

  #settled(head: LiveHead): Promise<void> {
    return this.#pipeline.settled(head.sequence);
  }

  #sources(): { now: typeof microsecondTimestamp; newId: () => string } {
    return { now: microsecondTimestamp, newId: () => nuid.next() };
  }
}
