/** Runs at most `concurrency` jobs at a time and keeps at most `limit` waiting. */
export class WorkQueue {
  private readonly waiting: (() => Promise<void>)[] = [];
  private running = 0;
  private settled: (() => void)[] = [];

  constructor(
    private readonly concurrency: number,
    private readonly limit: number,
  ) {}

  /** Jobs running or waiting. */
  get size(): number {
    return this.running + this.waiting.length;
  }

  /** Takes a job, or answers false when too many wait already. A job must not reject. */
  offer(job: () => Promise<void>): boolean {
    if (this.running < this.concurrency) void this.run(job);
    else if (this.waiting.length < this.limit) this.waiting.push(job);
    else return false;
    return true;
  }

  /** Resolves once nothing runs and nothing waits. */
  async idle(): Promise<void> {
    if (this.size === 0) return;
    await new Promise<void>((resolve) => this.settled.push(resolve));
  }

  private async run(job: () => Promise<void>): Promise<void> {
    this.running++;
    for (let next: (() => Promise<void>) | undefined = job; next; next = this.waiting.shift()) await next();
    this.running--;
    if (this.size > 0) return;
    const settled = this.settled;
    this.settled = [];
    for (const resolve of settled) resolve();
  }
}
