import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { z } from 'zod';
import { rpcMetrics, type RpcMetrics } from '../ops/rpc-metrics.js';
import { announce, type Announcement, type Endpoint, type ServiceDescription } from './discovery.js';
import { type Handler, type JsonServer, serveJson, type ServeOptions } from './serve-json.js';

/** What a service's endpoints share. */
export interface JsonServiceOptions extends ServiceDescription {
  readonly logger?: Logger;
  /** Where requests are counted and timed. */
  readonly metrics?: Registry;
}

/** The request subjects of one service: served, measured and discoverable together. */
export class JsonService {
  private readonly endpoints: (Endpoint & { readonly server: JsonServer })[] = [];
  private readonly announcement: Announcement;
  private readonly metrics: RpcMetrics | undefined;
  private stopping: Promise<void> | undefined;

  constructor(
    private readonly connection: NatsConnection,
    private readonly options: JsonServiceOptions,
  ) {
    this.metrics = options.metrics && rpcMetrics(options.metrics);
    this.announcement = announce(connection, options, () => this.endpoints);
  }

  /**
   * Serves one more subject. `name` is what discovery and metrics call it. Replicas of a service share its requests
   * through a queue group named after the service unless the options say otherwise.
   */
  serve<Schema extends z.ZodType>(
    name: string,
    subject: string,
    schema: Schema,
    handler: Handler<z.output<Schema>>,
    options: Omit<ServeOptions, 'logger' | 'observe'> = {},
  ): JsonServer {
    const server = serveJson(this.connection, subject, schema, handler, {
      queue: this.options.name,
      ...options,
      ...(this.options.logger && { logger: this.options.logger }),
      observe: ({ code, seconds }) => this.metrics?.observe(name, code, seconds),
    });
    this.endpoints.push({ name, server });
    return server;
  }

  /** Takes no new requests, answers those it has, then leaves discovery. Idempotent. */
  stop(): Promise<void> {
    return (this.stopping ??= Promise.all(this.endpoints.map(({ server }) => server.stop())).then(() =>
      this.announcement.stop(),
    ));
  }
}
