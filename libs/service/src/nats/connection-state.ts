import type { NatsConnection } from '@nats-io/transport-node';

/** Follows whether a connection is up, from its own events, so that asking costs nothing and touches no server. */
export class ConnectionState {
  private up: boolean;

  constructor(private readonly connection: NatsConnection) {
    this.up = !connection.isClosed();
    void this.watch();
  }

  /** Whether the connection is usable right now. */
  get connected(): boolean {
    return this.up && !this.connection.isClosed() && !this.connection.isDraining();
  }

  private async watch(): Promise<void> {
    for await (const { type } of this.connection.status()) {
      if (type === 'disconnect' || type === 'close' || type === 'staleConnection') this.up = false;
      else if (type === 'reconnect') this.up = true;
    }
  }
}
