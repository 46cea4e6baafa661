import { type Cancel, type Clock, sleepOn } from '@longrein/clock';

interface Timer {
  readonly due: number;
  readonly order: number;
  readonly run: () => void;
}

interface Waiter {
  readonly count: number;
  readonly resolve: () => void;
}

/** 2026-01-01T00:00:00Z: where a virtual clock starts unless told otherwise. */
const START = Date.UTC(2026, 0, 1);

/** A clock that stands still until the test moves it. Timers fire in order of their time, equal ones in order of creation. */
export class VirtualClock implements Clock {
  private time: number;
  private created = 0;
  private timers: Timer[] = [];
  private waiters: Waiter[] = [];

  constructor(start: number | string | Date = START) {
    this.time = new Date(start).getTime();
    if (Number.isNaN(this.time)) throw new RangeError(`not a time to start a clock at: ${String(start)}`);
  }

  now(): number {
    return this.time;
  }

  setTimeout(run: () => void, ms: number): Cancel {
    const timer: Timer = { due: this.time + Math.max(0, ms), order: this.created++, run };
    this.timers.push(timer);
    this.timers.sort((a, b) => a.due - b.due || a.order - b.order);
    this.waiters = this.waiters.filter((waiter) => {
      if (this.timers.length < waiter.count) return true;
      waiter.resolve();
      return false;
    });
    return () => {
      this.timers = this.timers.filter((other) => other !== timer);
    };
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, ms, signal);
  }

  /** Timers that have not fired. */
  get pending(): number {
    return this.timers.length;
  }

  /** Time until the next timer in milliseconds, or `undefined` when there is none. */
  get untilNext(): number | undefined {
    const next = this.timers[0];
    return next && next.due - this.time;
  }

  /** Resolves as soon as at least `count` timers are pending: the code under test has come to its wait. */
  async whenPending(count = 1): Promise<void> {
    if (this.timers.length >= count) return;
    await new Promise<void>((resolve) => this.waiters.push({ count, resolve }));
  }

  /**
   * Moves time forward by `ms`, firing what falls due on the way, also timers that were created meanwhile. Code that
   * awaits a timer runs on before the next one fires.
   */
  async advance(ms: number): Promise<void> {
    await this.advanceTo(this.time + ms);
  }

  /** Moves time forward to the given moment; see `advance`. */
  async advanceTo(moment: number | string | Date): Promise<void> {
    // A Date would cut fractions of a millisecond off, and a timer due at one would never fire.
    const end = typeof moment === 'number' ? moment : new Date(moment).getTime();
    if (!(end >= this.time)) throw new RangeError(`time moves forward only: from ${this.time} to ${String(moment)}`);
    await settle();
    for (let next = this.timers[0]; next && next.due <= end; next = this.timers[0]) {
      this.timers.shift();
      this.time = next.due;
      next.run();
      await settle();
    }
    this.time = end;
  }

  /** Moves time to the next timer and fires it; answers whether there was one. */
  async next(): Promise<boolean> {
    const until = this.untilNext;
    if (until !== undefined) await this.advance(until);
    return until !== undefined;
  }
}

/** Lets everything run that only waits for promises: a turn of the event loop drains the whole microtask queue. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
