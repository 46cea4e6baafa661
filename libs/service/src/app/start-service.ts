import 'reflect-metadata';
import type { DynamicModule, INestApplicationContext, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { type NatsConnection, nuid } from '@nats-io/transport-node';
import type { HttpConfig, ServiceConfig } from '../config/service-config.js';
import { createLogger, type Logger } from '../log/logger.js';
import { NestLogger } from '../log/nest-logger.js';
import { connectNats } from '../nats/connect.js';
import { ConnectionState } from '../nats/connection-state.js';
import { Health } from '../ops/health.js';
import { createMetrics } from '../ops/metrics.js';
import { JsonService } from '../rpc/json-service.js';
import { CoreModule, type ServiceContext } from './core.module.js';

/** The largest HTTP request body a service takes. */
const BODY_LIMIT = 1024 * 1024;

/** An app, as the bootstrap sees it. */
export interface ServiceDefinition<Config extends ServiceConfig> {
  /** Short name: in logs, in discovery as `longrein-<name>`, in NATS as the connection's name. */
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly config: Config;
  /** The app's module. It stops what it started in `onModuleDestroy` (no new work, finish what runs). */
  readonly module: (context: ServiceContext<Config>) => Type | DynamicModule;
}

/** A service running inside this process. */
export interface RunningService {
  readonly app: INestApplicationContext;
  readonly nats: NatsConnection;
  readonly health: Health;
  readonly logger: Logger;
  /** Where it serves HTTP, e.g. `http://127.0.0.1:7421`; absent when it opens no port. */
  readonly url?: string;
  /** Resolves when the NATS connection is closed for good: with the reason, or nothing when `stop` closed it. */
  readonly closed: Promise<Error | undefined>;
  /** Stops in order: not ready, app, requests, connection. Idempotent. */
  stop(): Promise<void>;
}

/** Somebody listens on the port already. */
export class PortTaken extends Error {
  override readonly name = 'PortTaken';

  constructor({ host, port }: HttpConfig, options?: ErrorOptions) {
    super(`port ${port} of ${host} is taken; stop what listens there, or set PORT to another port, or to 0`, options);
  }
}

/** Starts an app in this process: logger, NATS, Nest, HTTP. Waits for NATS for as long as it takes. */
export async function startService<Config extends ServiceConfig>(
  definition: ServiceDefinition<Config>,
): Promise<RunningService> {
  const { config, name } = definition;
  const identity = { service: name, instance: config.instance ?? nuid.next().slice(-8) };
  const logger = createLogger(identity, config.log);
  const health = new Health();
  const metrics = createMetrics(name);
  const nats = await connectNats(config.nats, identity, logger);
  const state = new ConnectionState(nats);
  health.readyWhen('nats', () =>
    state.connected ? { ok: true } : { ok: false, detail: `not connected to ${config.nats.servers.join(', ')}` },
  );
  const rpc = new JsonService(nats, {
    name: `longrein-${name}`,
    version: definition.version,
    description: definition.description,
    metadata: { instance: identity.instance },
    logger,
    metrics,
  });
  const context: ServiceContext<Config> = { identity, config, logger, health, metrics, nats, rpc };

  let opened: { app: INestApplicationContext; url?: string };
  try {
    opened = await open(rootModule(definition, context), config.http, logger);
    // Once the start is over the server knows every subscription: the first request finds its service.
    await nats.flush();
  } catch (error) {
    await nats.close();
    throw error;
  }
  const { app, url } = opened;
  let stopping: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    health.beginStop();
    try {
      await app.close();
      await rpc.stop();
    } finally {
      // Draining needs the server's answer: without a connection it would wait for one.
      await (state.connected ? nats.drain() : nats.close());
      logger.flush();
    }
  };
  logger.info({ ...(url !== undefined && { url }) }, `${name} is up`);
  return {
    app,
    nats,
    health,
    logger,
    ...(url !== undefined && { url }),
    closed: nats.closed().then((reason) => {
      if (stopping) return undefined;
      return reason instanceof Error ? reason : new Error('the NATS connection was closed');
    }),
    stop: () => (stopping ??= stop()),
  };
}

function rootModule<Config extends ServiceConfig>(
  { module }: ServiceDefinition<Config>,
  context: ServiceContext<Config>,
): DynamicModule {
  class RootModule {}
  return { module: RootModule, imports: [CoreModule.with(context), module(context)] };
}

async function open(
  module: DynamicModule,
  http: HttpConfig | undefined,
  logger: Logger,
): Promise<{ app: INestApplicationContext; url?: string }> {
  const options = { logger: new NestLogger(logger), abortOnError: false };
  if (!http) return { app: await NestFactory.createApplicationContext(module, options) };
  // Ids have up to 128 characters, more when encoded; the default of 100 would refuse valid ones before any handler.
  const routerOptions = { maxParamLength: 4096 };
  const adapter = new FastifyAdapter({ bodyLimit: BODY_LIMIT, forceCloseConnections: true, routerOptions });
  const app = await NestFactory.create<NestFastifyApplication>(module, adapter, options);
  try {
    await app.listen(http.port, http.host);
  } catch (error) {
    await app.close();
    throw (error as NodeJS.ErrnoException).code === 'EADDRINUSE' ? new PortTaken(http, { cause: error }) : error;
  }
  return { app, url: await app.getUrl() };
}
