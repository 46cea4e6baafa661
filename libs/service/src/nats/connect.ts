import { readFile } from 'node:fs/promises';
import { connect, credsAuthenticator, type NatsConnection, type NodeConnectionOptions } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import type { NatsConfig } from './nats-config.js';

/** After this long without a first connection a warning says what is being waited for. */
const PATIENCE_MS = 3_000;

/** Who connects. */
export interface Identity {
  readonly service: string;
  readonly instance: string;
}

/** Prefix of a service's reply inboxes: permissions can tell the inboxes of one service from another's. */
export function inboxPrefix(service: string): string {
  return `_INBOX_${service}`;
}

/**
 * Connects to NATS and keeps the connection for ever: waits for the first server, reconnects without limit, notices a
 * dead peer by pings. The connection closes only on `close`/`drain`, or when the server refuses the credentials twice.
 */
export async function connectNats(config: NatsConfig, identity: Identity, logger: Logger): Promise<NatsConnection> {
  const options = await connectionOptions(config, identity);
  const waiting = setTimeout(
    () =>
      logger.warn(
        { servers: config.servers },
        `still waiting for NATS at ${config.servers.join(', ')}; start a server there, or set NATS_URL to where one is`,
      ),
    PATIENCE_MS,
  );
  try {
    const connection = await connect(options);
    void report(connection, logger);
    return connection;
  } finally {
    clearTimeout(waiting);
  }
}

/** Options for the client, from config. Reads the credentials file. */
export async function connectionOptions(config: NatsConfig, identity: Identity): Promise<NodeConnectionOptions> {
  return {
    servers: [...config.servers],
    name: `${identity.service} ${identity.instance}`,
    inboxPrefix: inboxPrefix(identity.service),
    reconnect: true,
    maxReconnectAttempts: -1,
    waitOnFirstConnect: true,
    reconnectTimeWait: 250,
    reconnectJitter: 250,
    pingInterval: config.ping_interval_ms ?? 15_000,
    maxPingOut: 2,
    // Stack traces over asynchronous hops cost every request an Error object.
    noAsyncTraces: true,
    ...(config.creds_file !== undefined && { authenticator: credsAuthenticator(await readFile(config.creds_file)) }),
    ...(config.user !== undefined && { user: config.user }),
    ...(config.pass !== undefined && { pass: config.pass }),
    ...(config.token !== undefined && { token: config.token }),
    ...(config.ca_file !== undefined && { tls: { caFile: config.ca_file } }),
  };
}

async function report(connection: NatsConnection, logger: Logger): Promise<void> {
  logger.info({ server: connection.getServer(), version: connection.info?.version }, 'connected to NATS');
  for await (const status of connection.status()) {
    if (status.type === 'disconnect') logger.warn({ server: status.server }, 'lost the connection to NATS');
    else if (status.type === 'reconnect') logger.info({ server: status.server }, 'reconnected to NATS');
    else if (status.type === 'error') logger.error({ err: status.error }, 'NATS reports an error');
    else if (status.type === 'slowConsumer') logger.warn({ pending: status.pending }, 'a subscription falls behind');
    else logger.debug({ status: status.type }, 'NATS connection');
  }
}
