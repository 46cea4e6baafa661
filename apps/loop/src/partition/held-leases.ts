import type { LeaseHandlers, PartitionLeases } from '@longrein/log';

/** Leases of a process that is alone: it holds every partition from start to stop. */
export class HeldLeases implements PartitionLeases {
  readonly #held = new Set<number>();
  #handlers: LeaseHandlers | undefined;

  constructor(private readonly partitions: number) {}

  get held(): ReadonlySet<number> {
    return this.#held;
  }

  async start(handlers: LeaseHandlers): Promise<void> {
    this.#handlers = handlers;
    for (let partition = 0; partition < this.partitions; partition++) {
      await handlers.acquired(partition);
      this.#held.add(partition);
    }
  }

  async release(partition: number): Promise<void> {
    if (this.#held.delete(partition)) await this.#handlers?.lost(partition);
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#held].map((partition) => this.release(partition)));
  }
}
