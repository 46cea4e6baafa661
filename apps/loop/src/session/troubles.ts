import type { Clock } from '@longrein/clock';
import type { LogError } from '@longrein/log';
import { type BackoffOptions, backoff } from '../core/backoff.js';
import { FULL_BACKOFF, LOG_BACKOFF } from './actor-deps.js';

/** Keeps the delays of one session: between tries of a resume that fails, and while the log does not answer. */
export class Troubles {
  #failures = 0;
  #cancel: (() => void) | undefined;
  #logFailures = 0;

  constructor(
    private readonly deps: { readonly clock: Clock; readonly random: () => number },
    private readonly over: () => void,
  ) {}

  /** Failed tries of the open turn's resume. */
  get failures(): number {
    return this.#failures;
  }

  /** Whether a delay runs. */
  get waiting(): boolean {
    return this.#cancel !== undefined;
  }

  /** Counts a failure and begins its delay; calls back when it is over. */
  wait(options: BackoffOptions): void {
    this.#cancel?.();
    const ms = backoff(this.#failures++, options, this.deps.random());
    this.#cancel = this.deps.clock.setTimeout(() => {
      this.#cancel = undefined;
      this.over();
    }, ms);
  }

  /** Ends the delay without a call back. */
  cutShort(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  /** The turn is over: nothing is counted any more. */
  clear(): void {
    this.cutShort();
    this.#failures = 0;
  }

  /** Waits before the log is asked again after an error, or until the signal aborts. */
  async pauseForLog(error: LogError, signal: AbortSignal): Promise<void> {
    const bounds = error.code === 'storage_full' ? FULL_BACKOFF : LOG_BACKOFF;
    const ms = backoff(this.#logFailures++, bounds, this.deps.random());
    await this.deps.clock.sleep(ms, signal).catch(() => undefined);
  }

  /** The log answered. */
  logAnswered(): void {
    this.#logFailures = 0;
  }
}
