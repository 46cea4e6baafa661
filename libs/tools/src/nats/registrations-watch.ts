import type { NatsConnection, QueuedIterator } from '@nats-io/nats-core';
import { Round, type RegistrationsSink, type WatchOptions } from './registrations-round.js';
import { messageOf } from '../core/index.js';

const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 5_000;
const START_TIMEOUT_MS = 15_000;

/**
 * Follows the bucket for ever. The client's own watch survives a reconnect, but not a bucket that was lost or made
 * anew: it then stays silent. So the watch starts over after every reconnect, and whenever a check finds another
 * bucket, none, or updates that did not arrive; the last complete list stays in force meanwhile.
 */
export class RegistrationsWatch {
  readonly #nc: NatsConnection;
  readonly #sink: RegistrationsSink;
  readonly #options: WatchOptions;
  #stopped = false;
  #interrupt: (() => void) | undefined;
  #round: Round | undefined;
  #wake: (() => void) | undefined;
  #loaded!: () => void;
  /** Resolves with the first complete list. */
  readonly loaded = new Promise<void>((resolve) => (this.#loaded = resolve));

  constructor(nc: NatsConnection, sink: RegistrationsSink, options: WatchOptions = {}) {
    this.#nc = nc;
    this.#sink = sink;
    this.#options = options;
  }

  /** Starts following; errors are told to the sink and repaired. Ends when stopped or the connection is closed. */
  async run(): Promise<void> {
    const statuses = this.#nc.status();
    const listening = this.#restartOnReconnect(statuses);
    let retry = FIRST_RETRY_MS;
    while (!this.#stopped && !this.#nc.isClosed()) {
      try {
        const round = await this.#startRound();
        if (!round) continue;
        this.#round = round;
        if (this.#stopped) round.end();
        const why = await round.over;
        if (round.complete) retry = FIRST_RETRY_MS;
        if (!this.#stopped && why !== undefined) this.#sink.trouble(why);
      } catch (error) {
        if (this.#stopped || this.#nc.isClosed()) break;
        this.#sink.trouble(`cannot follow tool registrations: ${messageOf(error)}`);
      }
      if (!this.#stopped) await this.#pause(retry);
      retry = Math.min(retry * 2, LAST_RETRY_MS);
    }
    (statuses as AsyncIterable<unknown> as QueuedIterator<unknown>).stop();
    await listening;
  }

  /** Ends the watch. */
  stop(): void {
    this.#stopped = true;
    this.#interrupt?.();
    this.#round?.end();
    this.#wake?.();
  }

  // What the client waits for may have gone with a connection that was replaced meanwhile: so the wait is bounded, and a
  // reconnect cuts it short, with no round as the answer.
  async #startRound(): Promise<Round | undefined> {
    const starting = Round.start(this.#nc, this.#sink, this.#options, () => this.#loaded());
    const given = Promise.withResolvers<undefined>();
    const timer = setTimeout(
      () => given.reject(new Error(`the server did not answer within ${START_TIMEOUT_MS} ms`)),
      START_TIMEOUT_MS,
    );
    this.#interrupt = () => given.resolve(undefined);
    let round: Round | undefined;
    try {
      return (round = await Promise.race([starting, given.promise]));
    } finally {
      clearTimeout(timer);
      this.#interrupt = undefined;
      if (!round) starting.then((late) => late.end()).catch(() => undefined);
    }
  }

  async #restartOnReconnect(statuses: AsyncIterable<{ type: string }>): Promise<void> {
    for await (const status of statuses) {
      if (status.type !== 'reconnect') continue;
      this.#interrupt?.();
      this.#round?.end();
      this.#wake?.();
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#wake?.(), ms);
      this.#wake = () => {
        clearTimeout(timer);
        this.#wake = undefined;
        resolve();
      };
    });
  }
}
