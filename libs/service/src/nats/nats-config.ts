/** How to reach NATS and who to be there. Give at most one of credentials file, user and password, token. */
export interface NatsConfig {
  readonly servers: readonly string[];
  readonly creds_file?: string;
  readonly user?: string;
  readonly pass?: string;
  readonly token?: string;
  /** PEM file with the servers' certificate authority; turns TLS on. */
  readonly ca_file?: string;
  /** Milliseconds between pings: two unanswered ones end the connection. Default 15,000. */
  readonly ping_interval_ms?: number;
}
