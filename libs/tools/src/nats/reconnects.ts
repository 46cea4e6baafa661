import type { NatsConnection } from '@nats-io/nats-core';

/** Tells when a connection is in place again. Requests and replies that were on their way when it broke are lost. */
export class Reconnects {
  readonly #listeners = new Set<() => void>();

  constructor(nc: NatsConnection) {
    if (!nc.isClosed()) void this.#watch(nc);
  }

  /** Calls back at every reconnect until the returned function is called. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async #watch(nc: NatsConnection): Promise<void> {
    for await (const { type } of nc.status()) {
      if (type === 'reconnect') for (const listener of [...this.#listeners]) listener();
    }
  }
}
