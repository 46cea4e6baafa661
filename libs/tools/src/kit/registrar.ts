import type { KV } from '@nats-io/kv';
import type { NatsConnection, QueuedIterator } from '@nats-io/nats-core';
import { openToolsBucket } from '../nats/bucket.js';
import { messageOf } from '../core/index.js';

/** Keeps one registration in the bucket for as long as its process serves. */
export class Registrar {
  readonly #nc: NatsConnection;
  readonly #key: string;
  readonly #body: string;
  readonly #report: (reason: string) => void;
  readonly #timer: NodeJS.Timeout;
  readonly #statuses: ReturnType<NatsConnection['status']>;
  readonly #registered: Promise<void>;
  #resolve!: () => void;
  #reject!: (error: Error) => void;
  #done = false;
  #stopped = false;
  #queue: Promise<void> = Promise.resolve();

  constructor(
    nc: NatsConnection,
    registration: { readonly key: string; readonly body: string; readonly checkMs: number },
    report: (reason: string) => void,
  ) {
    this.#nc = nc;
    this.#key = registration.key;
    this.#body = registration.body;
    this.#report = report;
    this.#registered = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#timer = setInterval(() => this.#enqueue(), registration.checkMs);
    this.#statuses = nc.status();
    void this.#checkOnReconnect();
    this.#enqueue();
  }

  /** Resolves once the registration is stored; rejects when stopped or disconnected for good before that. */
  get registered(): Promise<void> {
    return this.#registered;
  }

  /** Lets go of the registration, which stays in the bucket unless it is to be retired. */
  async stop(retire: boolean): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    // The connection may be the author's and live on.
    (this.#statuses as AsyncIterable<unknown> as QueuedIterator<unknown>).stop();
    this.#reject(new Error('the tool was stopped before it was registered'));
    this.#registered.catch(() => undefined);
    await this.#queue;
    if (retire) await (await openToolsBucket(this.#nc)).delete(this.#key);
  }

  // One at a time: a check that overtakes another would put twice.
  #enqueue(): void {
    this.#queue = this.#queue.then(() => this.#ensure());
  }

  async #ensure(): Promise<void> {
    if (this.#stopped) return;
    try {
      const bucket = await openToolsBucket(this.#nc);
      if (!this.#done || (await this.#isLost(bucket))) await bucket.put(this.#key, this.#body);
      this.#done = true;
      this.#resolve();
    } catch (error) {
      const reason = messageOf(error);
      if (this.#nc.isClosed()) this.#reject(new Error(`the NATS connection is closed: ${reason}`));
      else this.#report(`cannot register ${this.#key}: ${reason}; will try again`);
    }
  }

  // Only an entry that is missing without a trace was lost with the server's data. One that was deleted was retired
  // by somebody, one that differs is another version's: neither is this process's to overrule.
  async #isLost(bucket: KV): Promise<boolean> {
    return (await bucket.get(this.#key)) === null;
  }

  async #checkOnReconnect(): Promise<void> {
    for await (const status of this.#statuses) {
      if (status.type === 'reconnect') this.#enqueue();
    }
  }
}
