import type { PartitionLeases } from '@longrein/log';
import type { LoopSettings } from './loop-settings.js';
import { PartitionRunner } from './partition-runner.js';

/** The loop of one process: a runner for each partition that it holds a lease on. */
export class LoopEngine {
  readonly #runners = new Map<number, PartitionRunner>();

  constructor(
    private readonly settings: LoopSettings,
    private readonly leases: PartitionLeases,
  ) {}

  /** What is running, for metrics. */
  get load(): { partitions: number; active: number; in_work: number } {
    const runners = [...this.#runners.values()];
    return {
      partitions: runners.length,
      active: runners.reduce((sum, runner) => sum + runner.active, 0),
      in_work: runners.reduce((sum, runner) => sum + runner.inWork, 0),
    };
  }

  async start(): Promise<void> {
    await this.leases.start({
      acquired: (partition) => this.#acquired(partition),
      lost: (partition) => this.#lost(partition),
    });
  }

  /** Hands over every turn and gives up every partition. */
  async stop(): Promise<void> {
    await this.leases.stop();
  }

  /** Stops at once, as a crash would. */
  kill(): void {
    for (const runner of this.#runners.values()) runner.kill();
  }

  async #acquired(partition: number): Promise<void> {
    const failed = (_: number, error: unknown): void => void this.#failed(partition, error);
    const runner = new PartitionRunner(partition, { ...this.settings, failed });
    await runner.start();
    this.#runners.set(partition, runner);
  }

  async #lost(partition: number): Promise<void> {
    const runner = this.#runners.get(partition);
    this.#runners.delete(partition);
    await runner?.stop();
  }

  async #failed(partition: number, error: unknown): Promise<void> {
    this.settings.logger.error({ partition, err: error }, 'a partition is given up');
    await this.leases.release(partition).catch((second: unknown) => {
      this.settings.logger.error({ partition, err: second }, 'the lease of a partition was not given up');
    });
  }
}
