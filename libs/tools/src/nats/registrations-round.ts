import type { KV, KvWatchEntry } from '@nats-io/kv';
import type { NatsConnection, QueuedIterator } from '@nats-io/nats-core';
import { openToolsBucket } from './bucket.js';
import { messageOf } from '../core/index.js';

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

/** One life of the client's watch, from the complete list until something is off. */
export class Round {
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
    const { streamInfo } = await kv.status().catch((error: unknown) => {
      iterator.stop();
      throw error;
    });
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
      this.end(`the watch on tool registrations failed: ${messageOf(error)}`);
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
