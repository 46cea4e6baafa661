import { type NatsConnection, PermissionViolationError } from '@nats-io/nats-core';

/** Told what happens to a connection. */
export interface ConnectionListener {
  disconnected?(): void;
  /** Subscriptions are in place again; what was published or delivered in between is lost. */
  reconnected?(): void;
  closed?(): void;
  /** The server refused a publish or subscription for lack of permission. */
  refused?(error: PermissionViolationError): void;
}

const watches = new WeakMap<NatsConnection, ConnectionWatch>();

/** One reader of a connection's status for all who care about it. */
export class ConnectionWatch {
  #connected: boolean;
  #closed: boolean;
  readonly #listeners = new Set<ConnectionListener>();

  /** The connection's one watch. */
  static of(nc: NatsConnection): ConnectionWatch {
    let watch = watches.get(nc);
    if (!watch) {
      watch = new ConnectionWatch(nc);
      watches.set(nc, watch);
    }
    return watch;
  }

  private constructor(nc: NatsConnection) {
    this.#closed = nc.isClosed();
    // The library forgets the server's greeting while it has no connection.
    this.#connected = !this.#closed && nc.info !== undefined;
    if (!this.#closed) void this.#run(nc);
  }

  get connected(): boolean {
    return this.#connected;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Adds a listener; returns how to remove it. */
  listen(listener: ConnectionListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async #run(nc: NatsConnection): Promise<void> {
    for await (const status of nc.status()) {
      if (status.type === 'disconnect') {
        this.#connected = false;
        for (const listener of [...this.#listeners]) listener.disconnected?.();
      } else if (status.type === 'reconnect') {
        this.#connected = true;
        for (const listener of [...this.#listeners]) listener.reconnected?.();
      } else if (status.type === 'error' && status.error instanceof PermissionViolationError) {
        for (const listener of [...this.#listeners]) listener.refused?.(status.error);
      }
    }
    this.#connected = false;
    this.#closed = true;
    for (const listener of [...this.#listeners]) listener.closed?.();
  }
}
