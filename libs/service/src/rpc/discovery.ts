import { type NatsConnection, nuid, type Subscription } from '@nats-io/transport-node';
import { encodeJson } from './json-codec.js';
import type { JsonServer } from './serve-json.js';

/** Prefix of the NATS service protocol's discovery subjects. */
const PREFIX = '$SRV';

/** A service as discovery shows it (`nats micro ls`, `nats micro info`). */
export interface ServiceDescription {
  /** 1-64 characters of `A-Z a-z 0-9 _ -`. */
  readonly name: string;
  /** Semantic version. */
  readonly version: string;
  readonly description: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** An endpoint that discovery lists. */
export interface Endpoint {
  readonly name: string;
  readonly server: Pick<JsonServer, 'subject' | 'queue' | 'stats'>;
}

/** Discovery being answered. */
export interface Announcement {
  /** Unique id of this replica in discovery. */
  readonly id: string;
  stop(): void;
}

/**
 * Answers `$SRV.PING|INFO|STATS`, as the NATS service protocol (ADR-32) asks of every service, for each replica.
 * `endpoints` is asked at each request: endpoints may come and go.
 */
export function announce(
  connection: NatsConnection,
  service: ServiceDescription,
  endpoints: () => readonly Endpoint[],
): Announcement {
  const id = nuid.next();
  const started = new Date().toISOString();
  const identity = { name: service.name, id, version: service.version, metadata: service.metadata ?? {} };
  const answers: Record<string, () => unknown> = {
    PING: () => ({ ...identity, type: 'io.nats.micro.v1.ping_response' }),
    INFO: () => ({
      ...identity,
      type: 'io.nats.micro.v1.info_response',
      description: service.description,
      endpoints: endpoints().map(placeOf),
    }),
    STATS: () => ({
      ...identity,
      type: 'io.nats.micro.v1.stats_response',
      started,
      endpoints: endpoints().map((endpoint) => ({ ...placeOf(endpoint), ...statsOf(endpoint) })),
    }),
  };
  const subscriptions: Subscription[] = [];
  for (const [verb, answer] of Object.entries(answers)) {
    for (const suffix of ['', `.${service.name}`, `.${service.name}.${id}`]) {
      subscriptions.push(
        connection.subscribe(`${PREFIX}.${verb}${suffix}`, {
          callback: (failure, message) => {
            if (!failure) message.respond(encodeJson(answer()));
          },
        }),
      );
    }
  }
  return {
    id,
    stop: () => {
      if (connection.isClosed()) return;
      for (const subscription of subscriptions) subscription.unsubscribe();
    },
  };
}

function placeOf({ name, server }: Endpoint): Record<string, unknown> {
  return { name, subject: server.subject, queue_group: server.queue ?? '', metadata: {} };
}

function statsOf({ server: { stats } }: Endpoint): Record<string, unknown> {
  return {
    num_requests: stats.requests,
    num_errors: stats.errors,
    last_error: stats.lastError,
    processing_time: Math.round(stats.processingTime),
    average_processing_time: stats.averageProcessingTime,
  };
}
