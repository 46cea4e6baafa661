import { type DynamicModule, Module } from '@nestjs/common';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Identity } from '../nats/connect.js';
import type { Health } from '../ops/health.js';
import { OpsController } from '../ops/ops.controller.js';
import type { JsonService } from '../rpc/json-service.js';
import { CONFIG, HEALTH, IDENTITY, LOGGER, METRICS, NATS, RPC } from './tokens.js';

/** What the bootstrap hands to an app. */
export interface ServiceContext<Config> {
  readonly identity: Identity;
  readonly config: Config;
  readonly logger: Logger;
  readonly health: Health;
  readonly metrics: Registry;
  readonly nats: NatsConnection;
  readonly rpc: JsonService;
}

/** Makes the service's context injectable everywhere and serves probes and metrics. */
@Module({})
export class CoreModule {
  static with(context: ServiceContext<unknown>): DynamicModule {
    const providers = [
      { provide: IDENTITY, useValue: context.identity },
      { provide: CONFIG, useValue: context.config },
      { provide: LOGGER, useValue: context.logger },
      { provide: HEALTH, useValue: context.health },
      { provide: METRICS, useValue: context.metrics },
      { provide: NATS, useValue: context.nats },
      { provide: RPC, useValue: context.rpc },
    ];
    return {
      module: CoreModule,
      global: true,
      controllers: [OpsController],
      providers,
      exports: providers.map(({ provide }) => provide),
    };
  }
}
