import type { LeaseHandlers, PartitionLeases } from '../port/index.js';

/** Holds every partition from the start: one replica, tests, `npm start`. */
export class SoleLeases implements PartitionLeases {
  readonly #held = new Map<number, Promise<void>>();
  #handlers: LeaseHandlers | undefined;

  constructor(private readonly partitions: number) {}

  get held(): ReadonlySet<number> {
    return new Set(this.#held.keys());
  }

  async start(handlers: LeaseHandlers): Promise<void> {
    this.#handlers = handlers;
    for (let partition = 0; partition < this.partitions; partition++) {
      const acquired = handlers.acquired(partition);
      this.#held.set(partition, acquired);
      await acquired;
    }
  }

  async release(partition: number): Promise<void> {
    const acquired = this.#held.get(partition);
    if (!acquired) return;
    this.#held.delete(partition);
    // What is stopped in the middle of its start would go on afterwards.
    await acquired;
    await this.#handlers?.lost(partition);
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#held.keys()].map((partition) => this.release(partition)));
  }
}
