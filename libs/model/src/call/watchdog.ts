import type { Cancel, Clock } from '@longrein/clock';

/** Calls `bark` once when nothing has happened for a time while it was watching. */
export class Watchdog {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #bark: () => void;
  #cancel: Cancel | undefined;

  constructor(clock: Clock, timeoutMs: number, bark: () => void) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#bark = bark;
  }

  /** Begins to watch, or starts over. */
  watch(): void {
    this.#cancel?.();
    this.#cancel = this.#clock.setTimeout(this.#bark, this.#timeoutMs);
  }

  /** Something happened; means nothing while not watching. */
  touch(): void {
    if (this.#cancel) this.watch();
  }

  /** Stops watching: what takes time now is not the watched one. */
  rest(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }
}
