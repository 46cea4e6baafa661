import { LogError } from '../port/index.js';

/** How much is done at once, and how much may wait for it. */
export interface LimiterOptions {
  readonly running: number;
  readonly waiting: number;
  /** Longest wait: whoever asked has sent the request again by then, and an answer would be for nobody. */
  readonly patience_ms: number;
  readonly now?: () => number;
}

interface Waiter {
  readonly since: number;
  readonly start: () => void;
  readonly refuse: (error: LogError) => void;
}

/**
 * Does a bounded number of tasks at once, in the order they came. More requests than a server can answer in time would
 * otherwise all be begun, slow each other down, and none be answered.
 */
export class Limiter {
  #running = 0;
  readonly #waiting: Waiter[] = [];
  readonly #now: () => number;

  constructor(
    private readonly what: string,
    private readonly options: LimiterOptions,
  ) {
    this.#now = options.now ?? (() => performance.now());
  }

  /** Runs the task when it is its turn. Throws `unavailable` when too many wait, or it had to wait for too long. */
  async run<Result>(task: () => Promise<Result>): Promise<Result> {
    if (this.#running >= this.options.running) await this.#turn();
    else this.#running++;
    try {
      return await task();
    } finally {
      this.#next();
    }
  }

  /** A turn is handed over by whoever ends, so that the count of those running stays as it is. */
  #turn(): Promise<void> {
    if (this.#waiting.length >= this.options.waiting) throw this.#busy();
    return new Promise((start, refuse) => this.#waiting.push({ since: this.#now(), start, refuse }));
  }

  #next(): void {
    for (let waiter = this.#waiting.shift(); waiter; waiter = this.#waiting.shift()) {
      if (this.#now() - waiter.since <= this.options.patience_ms) return waiter.start();
      waiter.refuse(this.#busy());
    }
    this.#running--;
  }

  #busy(): LogError {
    return new LogError('unavailable', `more ${this.what} are asked for than can be answered; retry later`);
  }
}
