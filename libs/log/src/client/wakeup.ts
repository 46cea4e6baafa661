import type { Clock } from '@longrein/clock';

/** Lets one waiter sleep until something happens. A wake-up that comes while nobody waits is remembered. */
export class Wakeup {
  #pending = false;
  #resolve: (() => void) | undefined;

  wake(): void {
    this.#pending = true;
    this.#resolve?.();
  }

  /** Resolves at the next wake-up with true, or after `timeout_ms` with false. */
  async wait(clock: Clock, timeout_ms?: number): Promise<boolean> {
    if (!this.#pending) {
      let cancel: (() => void) | undefined;
      await new Promise<void>((resolve) => {
        this.#resolve = resolve;
        if (timeout_ms !== undefined) cancel = clock.setTimeout(resolve, timeout_ms);
      });
      cancel?.();
      this.#resolve = undefined;
    }
    const woken = this.#pending;
    this.#pending = false;
    return woken;
  }
}

/** Calls `callback` when the signal aborts, at once if it has. Returns how to stop listening. */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (!signal) return () => undefined;
  if (signal.aborted) {
    callback();
    return () => undefined;
  }
  signal.addEventListener('abort', callback, { once: true });
  return () => signal.removeEventListener('abort', callback);
}
