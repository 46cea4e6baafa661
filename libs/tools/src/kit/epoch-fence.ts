import { partitionOf } from '@longrein/events';
import { Lru } from './lru.js';

const MAX_SCOPES = 10_000;

/**
 * Remembers the highest epoch it has seen and refuses lower ones: they come from a loop that has lost its partition
 * without knowing. Epochs compare within a partition only; without the partition count, within a session. The memory
 * is this process's own: a replica that has seen nothing refuses nothing.
 */
export class EpochFence {
  readonly #highest = new Lru<string, number>(MAX_SCOPES);
  readonly #partitions: number | undefined;

  constructor(partitions?: number) {
    this.#partitions = partitions;
  }

  /** The higher epoch that makes this one stale, or nothing when it is current. Remembers it. */
  staleness(sessionId: string, epoch: number): number | undefined {
    const scope = this.#partitions === undefined ? sessionId : String(partitionOf(sessionId, this.#partitions));
    const highest = this.#highest.get(scope) ?? -1;
    if (epoch < highest) return highest;
    this.#highest.set(scope, epoch);
    return undefined;
  }
}
