import type { Clock } from '@longrein/clock';
import type { BaseEnvelope } from '@longrein/events';
import { type EventPage, isLogError } from '../port/index.js';
import { Backoff } from './backoff.js';
import type { ReadPage } from './pages.js';

/** Reads one page at a time beside whatever else its user does. Failures that may pass are followed by a rest. */
export class PageFetcher<Envelope extends BaseEnvelope> {
  readonly #backoff = new Backoff(20, 1_000);
  #reading = false;
  #cancelRest: (() => void) | undefined;
  #page: EventPage<Envelope> | undefined;
  #fatal: Error | undefined;
  #failed = false;
  #stopped = false;

  /** @param changed told when a page has come, a read has failed, or a rest is over */
  constructor(
    private readonly readPage: ReadPage<Envelope>,
    private readonly clock: Clock,
    private readonly changed: () => void,
  ) {}

  /** Whether a page may be fetched now. */
  get idle(): boolean {
    return !this.#reading && !this.#cancelRest && !this.#page;
  }

  /** Whether the last read failed in a way that may pass. */
  get failed(): boolean {
    return this.#failed;
  }

  fetch(from_seq: number): void {
    this.#reading = true;
    this.#failed = false;
    void this.readPage(from_seq)
      .then(
        (page) => {
          this.#page = page;
          if (page.events.length > 0) this.#backoff.reset();
        },
        (error: Error) => {
          if (!isLogError(error) || !error.retryable) this.#fatal = error;
          this.#failed = true;
          this.rest();
        },
      )
      .finally(() => {
        this.#reading = false;
        this.changed();
      });
  }

  /** The page that has come, once. Throws what made reading impossible for good. */
  take(): EventPage<Envelope> | undefined {
    if (this.#fatal) throw this.#fatal;
    const page = this.#page;
    this.#page = undefined;
    return page;
  }

  /** Not idle for a while, longer each time until a page holds something. */
  rest(): void {
    if (this.#stopped) return;
    this.#cancelRest?.();
    const over = (): void => {
      this.#cancelRest = undefined;
      this.changed();
    };
    this.#cancelRest = this.clock.setTimeout(over, this.#backoff.next());
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelRest?.();
    this.#cancelRest = undefined;
  }
}
