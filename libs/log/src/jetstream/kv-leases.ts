import type { NatsConnection, Subscription } from '@nats-io/nats-core';
import { type KV, Kvm } from '@nats-io/kv';
import type { LeaseHandlers, PartitionLeases } from '../port/index.js';
import { leaseBucket } from './names.js';

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
}

/**
 * Leases in a KV bucket whose entries expire. Replicas announce themselves and what they hold on a plain subject, and
 * each takes its share: a replica that joins gets one partition at a time from those that hold too many.
 */
export class KvPartitionLeases implements PartitionLeases {
  readonly #leases = new Map<number, Lease>();
  readonly #members = new Map<string, { held: number; seenAt: number }>();
  readonly #pausedUntil = new Map<number, number>();
  readonly #ttl: number;
  readonly #subject: string;
  #kv!: KV;
  #handlers!: LeaseHandlers;
  #announcements: Subscription | undefined;
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(
    private readonly nc: NatsConnection,
    private readonly options: LeaseOptions,
  ) {
    this.#ttl = options.ttl_ms ?? 6_000;
    this.#subject = `longrein.members.${options.scope}`;
  }

  get held(): ReadonlySet<number> {
    return new Set(this.#leases.keys());
  }

  async start(handlers: LeaseHandlers): Promise<void> {
    this.#handlers = handlers;
    const { scope, replicas = 1 } = this.options;
    this.#kv = await new Kvm(this.nc).create(leaseBucket(scope), { ttl: this.#ttl, history: 1, replicas });
    this.#announcements = this.nc.subscribe(this.#subject, {
      callback: (_, msg) => {
        const { replica, held, leaving } = msg.json<{ replica: string; held: number; leaving?: boolean }>();
        if (leaving) this.#members.delete(replica);
        else this.#members.set(replica, { held, seenAt: performance.now() });
      },
    });
    await this.#nextRound();
    this.#timer = setInterval(() => void this.#nextRound(), this.#ttl / 6);
  }

  async release(partition: number): Promise<void> {
    const lease = this.#leases.get(partition);
    if (!lease) return;
    this.#leases.delete(partition);
    this.#pausedUntil.set(partition, performance.now() + this.#ttl / 2);
    await this.#handlers.lost(partition);
    await this.#delete(partition, lease);
  }

  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    clearInterval(this.#timer);
    await this.#round;
    await Promise.all([...this.#leases.keys()].map((partition) => this.release(partition)));
    this.#announce(true);
    this.#announcements?.unsubscribe();
  }

  #nextRound(): Promise<void> {
    // One round at a time; a slow one delays the next instead of overlapping it.
    this.#round = this.#round
      .then(() => (this.#stopped ? undefined : this.#runRound()))
      .catch((error: unknown) => this.options.onProblem?.('a round of leases failed', error));
    return this.#round;
  }

  async #runRound(): Promise<void> {
    this.#announce(false);
    await this.#renewAll();
    const share = this.#share();
    if (this.#leases.size > share) {
      await this.release([...this.#leases.keys()].at(-1)!);
      return;
    }
    await this.#acquireUpTo(share);
  }

  /** Leases of at most a share of the partitions among the replicas that were heard of lately. */
  #share(): number {
    const now = performance.now();
    for (const [replica, { seenAt }] of this.#members) {
      if (now - seenAt > this.#ttl) this.#members.delete(replica);
    }
    const replicas = new Set([...this.#members.keys(), this.options.replica]).size;
    return Math.ceil(this.options.partitions / replicas);
  }

  async #renewAll(): Promise<void> {
    await Promise.all(
      [...this.#leases].map(async ([partition, lease]) => {
        try {
          lease.revision = await this.#kv.update(key(partition), this.options.replica, lease.revision);
          lease.renewedAt = performance.now();
        } catch (error) {
          const isRefused = /wrong last sequence/i.test((error as Error).message);
          // Give up before the entry can expire: a replica that cannot renew must not be the last to know.
          if (isRefused || performance.now() - lease.renewedAt > this.#ttl / 2) {
            await this.#lose(partition, error);
          }
        }
      }),
    );
  }

  async #lose(partition: number, error: unknown): Promise<void> {
    if (!this.#leases.delete(partition)) return;
    this.options.onProblem?.(`lease of partition ${partition} was lost`, error);
    await this.#handlers.lost(partition);
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
    let revision: number;
    try {
      revision = await this.#kv.create(key(partition), this.options.replica);
    } catch {
      return;
    }
    const lease = { revision, renewedAt: performance.now() };
    this.#leases.set(partition, lease);
    try {
      await this.#handlers.acquired(partition);
    } catch (error) {
      this.options.onProblem?.(`partition ${partition} could not be taken over`, error);
      this.#leases.delete(partition);
      this.#pausedUntil.set(partition, performance.now() + this.#ttl / 2);
      await this.#delete(partition, lease);
    }
  }

  async #delete(partition: number, lease: Lease): Promise<void> {
    try {
      await this.#kv.delete(key(partition), { previousSeq: lease.revision });
    } catch (error) {
      // Expired or taken meanwhile: then it is not ours to delete.
      this.options.onProblem?.(`lease of partition ${partition} was not given back`, error);
    }
  }

  #announce(leaving: boolean): void {
    const { replica } = this.options;
    const message = { replica, held: this.#leases.size, ...(leaving ? { leaving } : {}) };
    if (!this.nc.isClosed()) this.nc.publish(this.#subject, JSON.stringify(message));
  }
}

/** Holds every partition from the start: one replica, tests, `npm start`. */
export class SoleLeases implements PartitionLeases {
  readonly #held = new Set<number>();
  #handlers: LeaseHandlers | undefined;

  constructor(private readonly partitions: number) {}

  get held(): ReadonlySet<number> {
    return this.#held;
  }

  async start(handlers: LeaseHandlers): Promise<void> {
    this.#handlers = handlers;
    for (let partition = 0; partition < this.partitions; partition++) {
      this.#held.add(partition);
      await handlers.acquired(partition);
    }
  }

  async release(partition: number): Promise<void> {
    if (this.#held.delete(partition)) await this.#handlers?.lost(partition);
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#held].map((partition) => this.release(partition)));
  }
}

function key(partition: number): string {
  return `p.${partition}`;
}
