/** One waiter, many reasons to wake: a raise while nobody waits is kept for the next wait. */
export class Wakeup {
  #raised = false;
  #resume: (() => void) | undefined;

  /** Whether it was raised since it was last lowered or waited for. */
  get raised(): boolean {
    return this.#raised;
  }

  /** Forgets earlier raises: whoever looks now sees what they were about. */
  lower(): void {
    this.#raised = false;
  }

  /** Lets the current wait, or else the next one, return. */
  raise(): void {
    this.#raised = true;
    this.#resume?.();
  }

  /** Resolves once raised since it was last lowered or waited for. */
  async wait(): Promise<void> {
    if (!this.#raised) await new Promise<void>((resolve) => (this.#resume = resolve));
    this.#resume = undefined;
    this.#raised = false;
  }
}
