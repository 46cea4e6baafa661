import type { Msg, NatsConnection, Subscription } from '@nats-io/nats-core';
import { type OwnerScope, type ServiceName, type StreamKind, logSubject, streamName } from '@longrein/events';
import { Scrubber, checkPlace } from '../core/index.js';
import { type AppendRequest, type PartitionLeases, type ReadRequest, LogError, isLogError } from '../port/index.js';
import { Limiter } from './limiter.js';
import { PartitionOwner } from './partition-owner.js';
import type { PipelineOptions } from './pipeline-options.js';
import { encodePage, encodeReply, parseRequest, traceContext } from './wire.js';
import { SessionReader } from './session-reader.js';
import { StreamApi } from './stream-api.js';

/** What happens in the server that operators want to see. */
export type LogServerNotice =
  | { readonly event: 'opened'; readonly kind: StreamKind; readonly partition: number; readonly epoch: number }
  | { readonly event: 'ended'; readonly kind: StreamKind; readonly partition: number; readonly reason: string }
  | { readonly event: 'fault'; readonly subject: string; readonly error: unknown };

/** What the server works with. */
export interface LogServerOptions {
  readonly partitions: number;
  readonly leases: PartitionLeases;
  readonly scrubber?: Scrubber;
  readonly pipeline?: PipelineOptions;
  readonly onNotice?: (notice: LogServerNotice) => void;
}

interface Served {
  readonly owners: PartitionOwner[];
  readonly subscriptions: Subscription[];
}

const KINDS: readonly StreamKind[] = ['sessions', 'agents'];
const READERS = 'log-readers';
/** How long a stop waits for acknowledgements. What is not answered by then, its caller retries. */
const DRAIN_MS = 5_000;
/** Reads of one partition begun at once; each may have a few hundred fetches under way. */
const READS = { running: 16, waiting: 1024, patience_ms: 2_500 };
const MAX_REQUEST_BYTES = 1024 * 1024;

/**
 * The log service: answers reads for every partition and everything else for the partitions it holds. Every replica
 * that believes it owns a partition hears its requests; a former owner's answer is `moved`, the owner's is the outcome.
 */
export class LogServer {
  readonly #api: StreamApi;
  readonly #readers: Record<StreamKind, SessionReader>;
  readonly #scrubber: Scrubber;
  readonly #served = new Map<number, Served>();
  readonly #running = new Set<Promise<void>>();
  readonly #reads: Subscription[] = [];
  /** One for each stream, so that a stream that does not answer holds up nobody else's readers. */
  readonly #readLimits = new Map<string, Limiter>();
  #stopped = false;

  constructor(
    private readonly nc: NatsConnection,
    private readonly options: LogServerOptions,
  ) {
    this.#api = new StreamApi(nc);
    this.#scrubber = options.scrubber ?? new Scrubber();
    this.#readers = {
      sessions: new SessionReader(nc, this.#api, 'sessions'),
      agents: new SessionReader(nc, this.#api, 'agents'),
    };
  }

  /** Partitions served at this moment. */
  get owned(): readonly number[] {
    return [...this.#served.keys()];
  }

  /** Starts answering. The streams must exist (`provision`). Throws when the server takes too small messages. */
  async start(): Promise<void> {
    const { max_payload = MAX_REQUEST_BYTES } = this.nc.info ?? {};
    if (max_payload < MAX_REQUEST_BYTES) {
      // An event that is accepted and cannot be published would hold up its partition for ever.
      const wanted = `the log needs ${MAX_REQUEST_BYTES}; raise max_payload in the server's configuration`;
      throw new RangeError(`the NATS server takes messages of at most ${max_payload} bytes, ${wanted}`);
    }
    for (const kind of KINDS) {
      this.#reads.push(this.#serve(logSubject(kind, '*', 'read'), { queue: READERS }, (msg) => this.#read(kind, msg)));
    }
    void this.#watchConnection();
    await this.options.leases.start({
      acquired: (partition) => this.#open(partition),
      lost: (partition) => this.#close(partition),
    });
  }

  /** Takes no more requests, finishes those it has, gives the partitions back. */
  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    for (const reads of this.#reads) reads.unsubscribe();
    await this.options.leases.stop();
    await this.#drain();
  }

  /** Lets requests under way finish, unless they cannot: without a connection nothing is acknowledged. */
  async #drain(): Promise<void> {
    if (this.nc.isClosed()) return;
    const limit = AbortSignal.timeout(DRAIN_MS);
    const expired = new Promise<void>((resolve) => limit.addEventListener('abort', () => resolve()));
    await Promise.race([Promise.allSettled(this.#running), this.nc.closed(), expired]);
  }

  async #open(partition: number): Promise<void> {
    const served: Served = { owners: [], subscriptions: [] };
    try {
      for (const kind of KINDS) {
        const owner = await PartitionOwner.open(
          {
            nc: this.nc,
            api: this.#api,
            reader: this.#readers[kind],
            scrubber: this.#scrubber,
            partitions: this.options.partitions,
            ...(this.options.pipeline ? { pipeline: this.options.pipeline } : {}),
            onEnd: (end, error) => {
              this.#notice({ event: 'ended', kind, partition, reason: `${end}: ${error.message}` });
              // A partition that lost data stays with this replica, which goes on saying so.
              if (end === 'fenced') this.#track(this.options.leases.release(partition));
            },
          },
          kind,
          partition,
        );
        served.owners.push(owner);
        this.#notice({ event: 'opened', kind, partition, epoch: owner.term.epoch });
      }
    } catch (error) {
      for (const owner of served.owners) owner.stop();
      throw error;
    }
    for (const owner of served.owners) served.subscriptions.push(...this.#listen(owner));
    await this.nc.flush();
    this.#served.set(partition, served);
  }

  async #close(partition: number): Promise<void> {
    const served = this.#served.get(partition);
    if (!served) return;
    this.#served.delete(partition);
    for (const subscription of served.subscriptions) subscription.unsubscribe();
    if (this.#stopped) await this.#drain();
    for (const owner of served.owners) owner.stop();
  }

  #listen(owner: PartitionOwner): Subscription[] {
    const { kind, partition } = owner;
    const idField = kind === 'sessions' ? 'session_id' : 'agent_id';
    const on = (
      operation: 'append' | 'create' | 'fork' | 'own',
      handle: (request: Record<string, unknown>, msg: Msg) => Promise<object>,
    ): Subscription =>
      this.#serve(logSubject(kind, partition, operation), {}, async (msg) =>
        encodeReply(await handle(parseRequest(msg, MAX_REQUEST_BYTES), msg)),
      );
    return [
      on('append', (request, msg) => {
        const service = msg.subject.slice(msg.subject.lastIndexOf('.') + 1) as ServiceName;
        const { [idField]: id, ...append } = request;
        return owner.append(service, id as string, append as unknown as AppendRequest, traceContext(msg));
      }),
      on('create', (request) => owner.create(request[idField] as string, request['parent_id'] as string | undefined)),
      on('fork', (request) => owner.fork(request as unknown as Parameters<PartitionOwner['fork']>[0])),
      on('own', (request) => owner.own(request as unknown as { scope: OwnerScope; owner: string })),
    ];
  }

  async #read(kind: StreamKind, msg: Msg): Promise<Uint8Array> {
    const request = parseRequest(msg, MAX_REQUEST_BYTES);
    const id = request[kind === 'sessions' ? 'session_id' : 'agent_id'];
    const partition = Number(msg.subject.split('.')[2]);
    checkPlace(kind, id, partition, this.options.partitions);
    const wanted = request as unknown as ReadRequest;
    return encodePage(
      await this.#readLimit(kind, partition).run(() => this.#readers[kind].page(partition, id, wanted)),
    );
  }

  #readLimit(kind: StreamKind, partition: number): Limiter {
    const stream = streamName(kind, partition);
    let limit = this.#readLimits.get(stream);
    if (!limit) {
      limit = new Limiter(`reads of ${stream}`, READS);
      this.#readLimits.set(stream, limit);
    }
    return limit;
  }

  #serve(subject: string, options: { queue?: string }, handle: (msg: Msg) => Promise<Uint8Array>): Subscription {
    return this.nc.subscribe(subject, {
      ...options,
      callback: (error, msg) => {
        if (error) this.#notice({ event: 'fault', subject, error });
        else this.#track(this.#answer(msg, handle));
      },
    });
  }

  async #answer(msg: Msg, handle: (msg: Msg) => Promise<Uint8Array>): Promise<void> {
    let reply: Uint8Array;
    try {
      reply = await handle(msg);
    } catch (error) {
      if (!isLogError(error)) this.#notice({ event: 'fault', subject: msg.subject, error });
      const known = isLogError(error)
        ? error
        : new LogError('unavailable', `fault in the log service: ${String(error)}`);
      reply = encodeReply({ error: known.toWire() });
    }
    if (msg.reply && !this.nc.isClosed()) msg.respond(reply);
  }

  #track(task: Promise<void>): void {
    const tracked = task
      .catch((error: unknown) => this.#notice({ event: 'fault', subject: '', error }))
      .finally(() => this.#running.delete(tracked));
    this.#running.add(tracked);
  }

  /** After a reconnect another owner, or an older copy of the store, may be behind the same address. */
  async #watchConnection(): Promise<void> {
    for await (const status of this.nc.status()) {
      if (status.type !== 'reconnect') continue;
      for (const { owners } of this.#served.values()) {
        for (const owner of owners) this.#track(owner.reconcile().catch(() => undefined));
      }
    }
  }

  #notice(notice: LogServerNotice): void {
    this.options.onNotice?.(notice);
  }
}
