import type { KV } from '@nats-io/kv';

/** Key of the mark that a partition is on its way from one replica to another. */
export const MOVE_KEY = 'moving';

/**
 * The mark in the bucket of leases that lets one partition of a scope move at a time, however many replicas have too
 * many. It expires like a lease, so a replica that dies in the middle holds up nobody for long.
 */
export class LeaseMove {
  #current: { readonly partition: number; revision: number; readonly begunAt: number } | undefined;

  constructor(
    private readonly replica: string,
    private readonly ttl: number,
  ) {}

  /** The partition that this replica is giving away now. */
  get partition(): number | undefined {
    return this.#current?.partition;
  }

  /** Sets the mark. False: another partition is under way. */
  async begin(kv: KV, partition: number): Promise<boolean> {
    if (this.#current) return false;
    try {
      const revision = await kv.create(MOVE_KEY, `${partition} ${this.replica}`);
      this.#current = { partition, revision, begunAt: performance.now() };
      return true;
    } catch (error) {
      if (/wrong last sequence/i.test((error as Error).message)) return false;
      throw error;
    }
  }

  /** Keeps the mark from expiring while the partition is still being given up. */
  async renew(kv: KV): Promise<void> {
    const move = this.#current;
    if (!move) return;
    move.revision = await kv.update(MOVE_KEY, `${move.partition} ${this.replica}`, move.revision);
  }

  /** Takes the mark away once somebody else holds the partition; forgets it once it has expired. */
  async finish(kv: KV, key: string): Promise<void> {
    const move = this.#current;
    if (!move) return;
    const lease = await kv.get(key);
    if (lease?.operation === 'PUT') {
      this.#current = undefined;
      await kv.delete(MOVE_KEY, { previousSeq: move.revision });
    } else if (performance.now() - move.begunAt > 2 * this.ttl && (await kv.get(MOVE_KEY)) === null) {
      this.#current = undefined;
    }
  }
}
