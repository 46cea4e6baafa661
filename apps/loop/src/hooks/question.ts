import type { Clock } from '@longrein/clock';
import { type BackoffOptions, backoff } from '../core/backoff.js';

/** Delay between tries to get an answer from a hook. */
export const HOOK_BACKOFF: BackoffOptions = { base_ms: 250, cap_ms: 30_000 };

/** What asking needs. */
export interface QuestionDeps {
  readonly clock: Clock;
  /** In [0, 1): jitter. */
  readonly random: () => number;
}

/**
 * One question at a time to one hook, asked until it is answered, with growing delays. Nothing waits inside: `changed`
 * is called when there is an answer, or when it is time to ask again.
 */
export class Question<Answer> {
  #key: string | undefined;
  #answer: { readonly value: Answer } | undefined;
  #busy = false;
  #failures = 0;
  #cancelDelay: (() => void) | undefined;

  constructor(
    private readonly deps: QuestionDeps,
    private readonly changed: () => void,
  ) {}

  /** The answer to the question of this key, if there is one. */
  answerTo(key: string): Answer | undefined {
    return key === this.#key ? this.#answer?.value : undefined;
  }

  /** Asks unless this very question is being asked, or was asked in vain just now. */
  ask(key: string, send: () => Promise<Answer>, failed: (error: unknown) => Answer | undefined): void {
    if (this.#busy && key === this.#key) return;
    if (key !== this.#key) this.#failures = 0;
    this.#cancelDelay?.();
    this.#key = key;
    this.#answer = undefined;
    this.#busy = true;
    const current = (): boolean => this.#busy && this.#key === key;
    send()
      .catch((error: unknown) => (current() ? failed(error) : undefined))
      .then((value) => {
        if (!current()) return;
        if (value === undefined) return this.#delay();
        this.#answer = { value };
        this.#busy = false;
        this.#failures = 0;
        this.changed();
      })
      .catch(() => undefined);
  }

  /** Nobody wants to know any more. */
  drop(): void {
    this.#cancelDelay?.();
    this.#cancelDelay = undefined;
    this.#key = undefined;
    this.#answer = undefined;
    this.#busy = false;
    this.#failures = 0;
  }

  #delay(): void {
    const ms = backoff(this.#failures++, HOOK_BACKOFF, this.deps.random());
    this.#cancelDelay = this.deps.clock.setTimeout(() => {
      this.#cancelDelay = undefined;
      this.#busy = false;
      this.changed();
    }, ms);
  }
}
