/** Exponential waits with jitter: half of each wait is random, so that many clients do not come back at once. */
export class Backoff {
  #attempt = 0;

  constructor(
    private readonly first_ms: number,
    private readonly longest_ms: number,
    private readonly random: () => number = Math.random,
  ) {}

  /** The next wait, in milliseconds. */
  next(): number {
    const full = Math.min(this.longest_ms, this.first_ms * 2 ** this.#attempt++);
    return full * (0.5 + this.random() / 2);
  }

  reset(): void {
    this.#attempt = 0;
  }
}
