import type { KV, KvWatchEntry } from '@nats-io/kv';
import type { NatsConnection, QueuedIterator } from '@nats-io/nats-core';
import { openToolsBucket } from './bucket.js';

/** What a watch tells. `load` replaces everything and comes first. */
export interface RegistrationsSink {
  load(entries: ReadonlyMap<string, Uint8Array>): void;
  put(key: string, body: Uint8Array): void;
  remove(key: string): void;
  /** Something is wrong that the watch goes on to repair. */
  trouble(reason: string): void;
}

/** Settings of a watch. */
export interface WatchOptions {
  /** Replicas of the bucket when the watch has to make it. */
  readonly replicas?: number | undefined;
  /** How often, in milliseconds, the watch checks that it still follows the bucket that exists. */
  readonly checkMs?: number | undefined;
}

const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 5_000;

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
        const round = await Round.start(this.#nc, this.#sink, this.#options, () => this.#loaded());
        this.#round = round;
        if (this.#stopped) round.end();
        const why = await round.over;
        if (round.complete) retry = FIRST_RETRY_MS;
        if (!this.#stopped && why !== undefined) this.#sink.trouble(why);
      } catch (error) {
        if (this.#stopped || this.#nc.isClosed()) break;
        this.#sink.trouble(
          `cannot follow tool registrations: ${error instanceof Error ? error.message : String(error)}`,
        );
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
    this.#round?.end();
    this.#wake?.();
  }

  async #restartOnReconnect(statuses: AsyncIterable<{ type: string }>): Promise<void> {
    for await (const status of statuses) {
      if (status.type === 'reconnect') {
        this.#round?.end();
        this.#wake?.();
      }
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

/** One life of the client's watch, from the complete list until something is off. */
class Round {
  /** Resolves with the reason this round is over; without one when it was ended from outside. */
  readonly over: Promise<string | undefined>;
  complete = false;
  readonly #kv: KV;
  readonly #iterator: QueuedIterator<KvWatchEntry>;
  readonly #created: string;
  readonly #timer: NodeJS.Timeout;
  readonly #initial = new Map<string, Uint8Array>();
  #seen = 0;
  #strikes = 0;
  #resolve!: (why: string | undefined) => void;

  private constructor(kv: KV, iterator: QueuedIterator<KvWatchEntry>, created: string, checkMs: number) {
    this.#kv = kv;
    this.#iterator = iterator;
    this.#created = created;
    this.over = new Promise((resolve) => (this.#resolve = resolve));
    this.#timer = setInterval(() => void this.#check(), checkMs);
    this.#timer.unref();
  }

  static async start(
    nc: NatsConnection,
    sink: RegistrationsSink,
    options: WatchOptions,
    onComplete: () => void,
  ): Promise<Round> {
    const kv = await openToolsBucket(nc, options.replicas);
    const iterator = await kv.watch();
    // After the watch was made: what is in the bucket now is delivered, so an empty one needs no waiting.
    const { streamInfo } = await kv.status();
    const round = new Round(kv, iterator, String(streamInfo.created), options.checkMs ?? 10_000);
    const complete = (): void => {
      round.complete = true;
      round.#seen = Math.max(round.#seen, streamInfo.state.last_seq);
      sink.load(round.#initial);
      onComplete();
    };
    if (streamInfo.state.messages === 0) complete();
    void round.#follow(sink, complete);
    return round;
  }

  end(why?: string): void {
    clearInterval(this.#timer);
    this.#iterator.stop();
    this.#resolve(why);
  }

  async #follow(sink: RegistrationsSink, complete: () => void): Promise<void> {
    try {
      for await (const entry of this.#iterator) {
        this.#seen = Math.max(this.#seen, entry.revision);
        const body = entry.operation === 'PUT' ? entry.value : undefined;
        if (this.complete) {
          if (body) sink.put(entry.key, body);
          else sink.remove(entry.key);
          continue;
        }
        if (body) this.#initial.set(entry.key, body);
        else this.#initial.delete(entry.key);
        if (entry.delta === 0) complete();
      }
      this.end('the watch on tool registrations ended; starting over');
    } catch (error) {
      this.end(`the watch on tool registrations failed: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  async #check(): Promise<void> {
    try {
      const seen = this.#seen;
      const { streamInfo } = await this.#kv.status();
      if (String(streamInfo.created) !== this.#created)
        return this.end('the bucket of tool registrations was made anew');
      const late = !this.complete || (streamInfo.state.last_seq > this.#seen && seen === this.#seen);
      this.#strikes = late ? this.#strikes + 1 : 0;
      // One late check is an update on its way; two in a row are a watch that hears nothing.
      if (this.#strikes >= 2) this.end('updates of tool registrations do not arrive; starting over');
    } catch (error) {
      // Without a connection there is nothing to compare; the reconnect starts over anyway.
      if (error instanceof Error && error.message === 'stream not found')
        this.end('the bucket of tool registrations is gone');
    }
  }
}
