/** Undoes things in the reverse order in which they were done, once. */
export class Teardown {
  private readonly steps: (() => Promise<unknown>)[] = [];
  private running: Promise<void> | undefined;
  private over = false;

  /** Takes a step. While everything is being undone it is undone at once. */
  add(step: () => Promise<unknown>): void {
    this.steps.push(step);
    if (this.over) this.running = this.runAll();
  }

  /** Runs every step, also after one failed; then rejects with the first failure. Idempotent. */
  run(): Promise<void> {
    return (this.running ??= this.runAll());
  }

  private async runAll(): Promise<void> {
    const failures: unknown[] = [];
    for (let step = this.steps.pop(); step; step = this.steps.pop()) {
      try {
        await step();
      } catch (error) {
        failures.push(error);
      }
    }
    this.over = true;
    if (failures.length > 0) throw failures[0];
  }
}
