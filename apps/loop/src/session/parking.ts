import type { ActorDeps } from './actor-deps.js';

/** Times how long a turn that only waits for verdicts stays in memory. */
export class Parking {
  #cancel: (() => void) | undefined;
  #over = false;

  constructor(
    private readonly deps: Pick<ActorDeps, 'clock' | 'parked_ms'>,
    private readonly over: () => void,
  ) {}

  /** Whether it has waited long enough. The first question begins the wait; calls back when it is over. */
  expired(): boolean {
    this.#cancel ??= this.deps.clock.setTimeout(() => {
      this.#over = true;
      this.over();
    }, this.deps.parked_ms);
    return this.#over;
  }

  /** Something else happens: the next wait begins anew. */
  end(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#over = false;
  }
}
