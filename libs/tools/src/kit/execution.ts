import type { Clock } from '@longrein/clock';
import type { ToolReply } from './reply.js';

/** One run of a handler, which several calls with the same key may be waiting for. */
export class Execution {
  readonly #controller = new AbortController();
  readonly #clock: Clock;
  readonly result: Promise<ToolReply>;
  #deadline = -Infinity;
  #cancelTimer: () => void = () => undefined;

  constructor(clock: Clock, deadline: number, run: (signal: AbortSignal) => Promise<ToolReply>) {
    this.#clock = clock;
    this.extend(deadline);
    this.result = run(this.#controller.signal).finally(() => this.#cancelTimer());
  }

  /** Lets the handler go on until the latest deadline among its callers. */
  extend(deadline: number): void {
    if (deadline <= this.#deadline) return;
    this.#deadline = deadline;
    this.#cancelTimer();
    this.#cancelTimer = this.#clock.setTimeout(
      () => this.#controller.abort(new DOMException('the call is past its not_after', 'TimeoutError')),
      deadline - this.#clock.now(),
    );
  }

  /** The result, or `expired` once a caller's own deadline has passed. */
  wait(deadline: number, expired: ToolReply): Promise<ToolReply> {
    return new Promise((resolve) => {
      const cancel = this.#clock.setTimeout(() => resolve(expired), deadline - this.#clock.now());
      void this.result.then((reply) => {
        cancel();
        resolve(reply);
      });
    });
  }
}
