/** Wakes whoever waits for news. Waiting after looking is safe: nothing can ring between the two in one turn. */
export class Bell {
  readonly #waiting = new Set<() => void>();

  /** Wakes all who wait now, each in a turn of its own: a listener's failure is nobody else's. */
  ring(): void {
    const woken = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of woken) wake();
  }

  /** Resolves at the next ring, or when the signal aborts. */
  wait(signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal?.addEventListener('abort', wake, { once: true });
    });
  }
}
