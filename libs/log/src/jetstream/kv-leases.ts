import type { Msg, NatsConnection, Subscription } from '@nats-io/nats-core';
import { type KV, Kvm } from '@nats-io/kv';
import type { LeaseHandlers, PartitionLeases } from '../port/index.js';
import { LeaseMembers } from './lease-members.js';
import { LeaseMove } from './lease-move.js';
import { leaseBucket, leaseKey, leaseReleaseSubject } from './names.js';

/** How leases are kept. */
export interface LeaseOptions {
  /** Which service's leases: `log`, `loop`, `registry`. Replicas of one scope share the partitions. */
  readonly scope: string;
  /** Name of this replica, unique among those running. */
  readonly replica: string;
  readonly partitions: number;
  /** How long a lease outlives its last renewal, at least 1000. */
  readonly ttl_ms?: number;
  /** Copies of the bucket. */
  readonly replicas?: number;
  /** Told what went wrong and was or will be retried. */
  readonly onProblem?: (problem: string, error: unknown) => void;
}

interface Lease {
  revision: number;
  /** When it was last known to be ours, by the local clock. */
  renewedAt: number;
  /** Settled once the taking over has ended, one way or the other; true when the partition is served. */
  readonly served: Promise<boolean>;
  /** The renewal under way. */
  renewing: Promise<void>;
  /** The giving up under way. Until it ends the lease is renewed, so that nobody else begins too early. */
  leaving: Promise<void> | undefined;
}

/**
 * Leases in a KV bucket whose entries expire. Replicas announce themselves and what they hold on a plain subject, and
 * each takes its share: a replica that joins gets partitions from those that hold too many, one at a time in the whole
 * scope. Renewals wait for nothing else: a partition that is slow to take over or to give up must not cost the replica
 * all the others.
 */
export class KvPartitionLeases implements PartitionLeases {
  readonly #leases = new Map<number, Lease>();
  readonly #members: LeaseMembers;
  readonly #move: LeaseMove;
  readonly #pausedUntil = new Map<number, number>();
  readonly #ttl: number;
  #kv!: KV;
  #handlers!: LeaseHandlers;
  #releases: Subscription | undefined;
  #timer: NodeJS.Timeout | undefined;
  #renewals: Promise<void> | undefined;
  #balancing: Promise<void> | undefined;
  /** Something changed since the round that runs has begun. */
  #another = false;
  #failing = false;
  #stopped = false;

  constructor(
    private readonly nc: NatsConnection,
    private readonly options: LeaseOptions,
  ) {
    this.#ttl = options.ttl_ms ?? 6_000;
    const { scope, replica } = options;
    this.#members = new LeaseMembers(nc, { scope, replica, ttl_ms: this.#ttl }, () => this.#look());
    this.#move = new LeaseMove(replica, this.#ttl);
  }

  get held(): ReadonlySet<number> {
    return new Set([...this.#leases].filter(([, { leaving }]) => !leaving).map(([partition]) => partition));
  }

  /** Whether it could take partitions if there were any to take: the last round came to its end. */
  get canOwn(): boolean {
    return !this.#stopped && !this.#failing;
  }

  async start(handlers: LeaseHandlers): Promise<void> {
    this.#handlers = handlers;
    await this.#openBucket();
    this.#members.start();
    this.#releases = this.nc.subscribe(leaseReleaseSubject(this.options.scope), {
      callback: (_, msg) => void this.#asked(msg),
    });
    this.#timer = setInterval(() => this.#tick(), this.#ttl / 6);
    this.#tick();
    await this.#balancing;
  }

  async release(partition: number): Promise<void> {
    const lease = this.#leases.get(partition);
    if (!lease) return;
    lease.leaving ??= this.#leave(partition, lease);
    await lease.leaving;
  }

  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#releases?.unsubscribe();
    await this.#balancing;
    // First of all, so that others take each partition the moment it is free.
    this.#members.announce({ held: this.held.size, leaving: true });
    await Promise.all([...this.#leases.keys()].map((partition) => this.release(partition)));
    clearInterval(this.#timer);
    this.#members.stop();
  }

  async #openBucket(): Promise<void> {
    const { scope, replicas = 1 } = this.options;
    this.#kv = await new Kvm(this.nc).create(leaseBucket(scope), { ttl: this.#ttl, history: 1, replicas });
  }

  #tick(): void {
    if (!this.#stopped) this.#members.announce({ held: this.held.size });
    this.#renew();
    this.#look();
  }

  #renew(): void {
    if (this.#renewals) return;
    this.#renewals = this.#reported('the renewal of leases failed', this.#renewAll()).finally(() => {
      this.#renewals = undefined;
    });
  }

  /** Begins a round, or lets the one that runs be followed by another. */
  #look(): void {
    if (this.#stopped) return;
    if (this.#balancing) {
      this.#another = true;
      return;
    }
    this.#another = false;
    this.#balancing = this.#reported('a round of leases failed', this.#balance()).finally(() => {
      this.#balancing = undefined;
      if (this.#another) this.#look();
    });
  }

  #reported(problem: string, task: Promise<void>): Promise<void> {
    return task.catch((error: unknown) => this.options.onProblem?.(problem, error));
  }

  async #balance(): Promise<void> {
    try {
      await this.#shareOut();
      this.#failing = false;
    } catch (error) {
      this.#failing = true;
      throw error;
    }
  }

  async #shareOut(): Promise<void> {
    if (this.#move.partition !== undefined) await this.#move.finish(this.#kv, leaseKey(this.#move.partition));
    const share = Math.ceil(this.options.partitions / this.#members.count);
    const held = this.held;
    if (held.size <= share) return this.#acquireUpTo(share);
    const surplus = [...held].at(-1)!;
    if (await this.#move.begin(this.#kv, surplus)) await this.release(surplus);
  }

  /** Somebody asks for a partition to be given up. Whoever holds it answers; the others keep silent. */
  async #asked(msg: Msg): Promise<void> {
    let partition: unknown;
    try {
      partition = msg.json<{ partition?: unknown } | null>()?.partition;
    } catch {
      // Nobody's partition.
    }
    if (typeof partition !== 'number' || !this.held.has(partition)) return;
    const { replica } = this.options;
    const answer = await this.release(partition).then(
      () => ({ partition, replica }),
      (error: unknown) => ({ error: { code: 'internal', message: `${replica}: ${String(error)}` } }),
    );
    if (!this.nc.isClosed()) msg.respond(JSON.stringify(answer));
  }

  async #renewAll(): Promise<void> {
    const { partition } = this.#move;
    if (partition !== undefined && this.#leases.has(partition)) {
      void this.#reported('the mark of a move was not renewed', this.#move.renew(this.#kv));
    }
    await Promise.all(
      [...this.#leases].map(([partition, lease]) => {
        lease.renewing = this.#renewOne(partition, lease);
        return lease.renewing;
      }),
    );
  }

  async #renewOne(partition: number, lease: Lease): Promise<void> {
    const askedAt = performance.now();
    try {
      lease.revision = await this.#kv.update(leaseKey(partition), this.options.replica, lease.revision, this.#ttl / 3);
      lease.renewedAt = askedAt;
    } catch (error) {
      const isRefused = /wrong last sequence/i.test((error as Error).message);
      // Give up before the entry can expire: a replica that cannot renew must not be the last to know.
      if (isRefused || performance.now() - lease.renewedAt > this.#ttl / 2) this.#lose(partition, lease, error);
    }
  }

  #lose(partition: number, lease: Lease, error: unknown): void {
    if (this.#leases.get(partition) !== lease || lease.leaving) return;
    this.options.onProblem?.(`lease of partition ${partition} was lost`, error);
    // Not waited for: the other leases must be renewed meanwhile.
    lease.leaving = this.#unserve(partition, lease).finally(() => this.#leases.delete(partition));
    void this.#reported(`partition ${partition} could not be given up`, lease.leaving);
  }

  async #leave(partition: number, lease: Lease): Promise<void> {
    try {
      await this.#unserve(partition, lease);
    } finally {
      this.#pausedUntil.set(partition, performance.now() + this.#ttl / 2);
      this.#leases.delete(partition);
      await this.#delete(partition, lease);
      this.#members.announce({ held: this.held.size, freed: partition });
    }
  }

  /** Not before the taking over has ended: what is stopped in the middle of its start would go on afterwards. */
  async #unserve(partition: number, lease: Lease): Promise<void> {
    if (await lease.served) await this.#handlers.lost(partition);
  }

  async #acquireUpTo(share: number): Promise<void> {
    const now = performance.now();
    for (let i = 0; i < this.options.partitions && this.#leases.size < share && !this.#stopped; i++) {
      const partition = (i + this.#offset()) % this.options.partitions;
      if (this.#leases.has(partition) || now < (this.#pausedUntil.get(partition) ?? 0)) continue;
      await this.#acquire(partition);
    }
  }

  /** Replicas begin their search at different partitions, so that they do not race for the same ones. */
  #offset(): number {
    let hash = 0;
    for (const char of this.options.replica) hash = (hash * 31 + char.charCodeAt(0)) >>> 0;
    return hash % this.options.partitions;
  }

  async #acquire(partition: number): Promise<void> {
    const askedAt = performance.now();
    let revision: number;
    try {
      revision = await this.#kv.create(leaseKey(partition), this.options.replica);
    } catch (error) {
      if (/wrong last sequence/i.test((error as Error).message)) return;
      // Without its bucket no partition would ever have an owner again.
      await this.#openBucket();
      throw error;
    }
    const served = Promise.withResolvers<boolean>();
    const lease: Lease = {
      revision,
      renewedAt: askedAt,
      served: served.promise,
      renewing: Promise.resolve(),
      leaving: undefined,
    };
    this.#leases.set(partition, lease);
    try {
      await this.#handlers.acquired(partition);
      served.resolve(true);
      this.#members.announce({ held: this.held.size, took: partition });
    } catch (error) {
      this.options.onProblem?.(`partition ${partition} could not be taken over`, error);
      served.resolve(false);
      await this.release(partition);
    }
  }

  async #delete(partition: number, lease: Lease): Promise<void> {
    // It changes the revision.
    await lease.renewing;
    try {
      await this.#kv.delete(leaseKey(partition), { previousSeq: lease.revision });
    } catch (error) {
      // Expired or taken meanwhile: then it is not ours to delete.
      this.options.onProblem?.(`lease of partition ${partition} was not given back`, error);
    }
  }
}
