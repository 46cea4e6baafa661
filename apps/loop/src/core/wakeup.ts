/** One waiter, many reasons to wake: a raise while nobody waits is kept for the next wait. */
export class Wakeup {
  #raised = false;
  #resume: (() => void) | undefined;

  /** Lets the current wait, or else the next one, return. */
  raise(): void {
    this.#raised = true;
    this.#resume?.();
  }

  /** Resolves once raised since the last wait. */
  async wait(): Promise<void> {
    if (!this.#raised) await new Promise<void>((resolve) => (this.#resume = resolve));
    this.#resume = undefined;
    this.#raised = false;
  }
}
