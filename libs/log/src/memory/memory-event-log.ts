import { type BaseEnvelope, type OwnerScope, type ServiceName, type StreamKind, ownerScope } from '@longrein/events';
import {
  type CheckedAppend,
  type PreparedEvent,
  checkAppend,
  checkId,
  createdEvent,
  decideAppend,
} from '../core/index.js';
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
  type ReadRequest,
  LogError,
} from '../port/index.js';
import { type AppendFault, faultError } from './faults.js';
import { fork } from './fork.js';
import type { MemoryLog } from './memory-log.js';
import type { MemoryPartition } from './memory-partition.js';
import { consume, follow, readPage } from './readers.js';

const MAX_OWNER = 256;

/** The log in memory as one service sees it. */
export class MemoryEventLog implements EventLog<BaseEnvelope> {
  readonly partitions: number;

  constructor(
    private readonly log: MemoryLog,
    private readonly service: ServiceName,
    private readonly kind: StreamKind,
  ) {
    this.partitions = log.partitions;
  }

  async create(id: string, options: { parent_id?: string } & CallOptions = {}): Promise<CreateResult> {
    checkId(this.kind, id);
    const { parent_id } = options;
    if (parent_id !== undefined) checkId(this.kind, parent_id);
    const partition = this.log.home(this.kind, id);
    const head = partition.head(id);
    if (head) return { created: false, last_seq: head.lastSeq };
    const created = createdEvent(this.kind, id, {
      ...this.log.sources,
      ...(parent_id === undefined ? {} : { parent_id }),
    });
    partition.store(id, [created]);
    return { created: true, last_seq: 0 };
  }

  async append(id: string, request: AppendRequest, options: CallOptions = {}): Promise<AppendResult<BaseEnvelope>> {
    checkId(this.kind, id);
    const append = checkAppend(this.kind, this.service, this.#withIds(request), this.log.scrubber);
    options.signal?.throwIfAborted();
    const { service, kind, log } = this;
    await log.schedule?.('store', { service, id });
    const fault = log.faults.take({ service, id, request });
    if (fault?.at === 'before') throw faultError(fault);
    const result = this.#decide(log.home(kind, id), id, append, fault);
    await log.schedule?.('answer', { service, id });
    if (fault) throw faultError(fault);
    return result;
  }

  async read(id: string, request: ReadRequest): Promise<EventPage<BaseEnvelope>> {
    checkId(this.kind, id);
    return readPage(this.#session(id), request);
  }

  async fork(request: ForkRequest): Promise<ForkResult> {
    if (this.kind !== 'sessions') throw new LogError('invalid_event', 'only sessions can be forked');
    return fork(this.log, request);
  }

  async own(partition: number, claim: { scope: OwnerScope; owner: string }): Promise<{ epoch: number }> {
    const scope = ownerScope.safeParse(claim.scope);
    if (!scope.success) {
      const known = ownerScope.options.join(', ');
      throw new LogError('invalid_event', `scope must be one of ${known}, got ${JSON.stringify(claim.scope)}`);
    }
    const { owner } = claim;
    if (typeof owner !== 'string' || owner.length < 1 || owner.length > MAX_OWNER) {
      throw new LogError('invalid_event', `owner must be 1-${MAX_OWNER} characters, got ${JSON.stringify(owner)}`);
    }
    return { epoch: this.log.partition(this.kind, partition).own(scope.data, owner) };
  }

  async *follow(id: string, { from_seq, signal }: FollowOptions): AsyncGenerator<BaseEnvelope, void> {
    checkId(this.kind, id);
    yield* follow(this.log.home(this.kind, id), this.#session(id), from_seq, signal);
  }

  async *consume({ partition, select, after, signal }: ConsumeOptions): AsyncGenerator<Delivery<BaseEnvelope>, void> {
    yield* consume(this.log.partition(this.kind, partition), select, after, signal);
  }

  #decide(
    partition: MemoryPartition,
    id: string,
    append: CheckedAppend,
    fault: AppendFault | undefined,
  ): AppendResult<BaseEnvelope> {
    const head = partition.head(id);
    if (!head) throw unknownSession(this.kind, id);
    const scope = ownerScope.safeParse(this.service).data;
    for (;;) {
      const context = { kind: this.kind, ...this.log.sources, epoch: partition.epoch(scope) };
      const decision = decideAppend(head, append, context);
      if (decision.kind === 'load') {
        partition.extend(head, decision.from);
        continue;
      }
      if (decision.kind === 'refuse' || decision.kind === 'ahead') throw decision.error;
      if (decision.kind === 'stored') return { seq: decision.seq, at: decision.at, missed: decision.missed };
      partition.store(id, kept(decision.events, fault));
      const { seq, at } = decision.events.at(-1)!.envelope;
      return { seq, at, missed: decision.missed };
    }
  }

  /** An append without event ids could not be told from its retry. */
  #withIds(request: AppendRequest): AppendRequest {
    if (!Array.isArray(request?.events)) return request;
    const events = request.events.map((event) =>
      typeof event === 'object' && event !== null && event.event_id === undefined
        ? { ...event, event_id: this.log.sources.newId() }
        : event,
    );
    return { ...request, events };
  }

  #session(id: string) {
    const session = this.log.home(this.kind, id).session(id);
    if (!session) throw unknownSession(this.kind, id);
    return session;
  }
}

function kept(events: readonly PreparedEvent[], fault: AppendFault | undefined): readonly PreparedEvent[] {
  return typeof fault?.at === 'number' ? events.slice(0, fault.at) : events;
}

function unknownSession(kind: StreamKind, id: string): LogError {
  return new LogError('unknown_session', `${kind.slice(0, -1)} ${id} does not exist; create it first`);
}
