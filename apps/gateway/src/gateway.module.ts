import type { Server } from 'node:http';
import {
  type DynamicModule,
  Inject,
  Injectable,
  Module,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { APP_FILTER, HttpAdapterHost } from '@nestjs/core';
import { systemClock } from '@longrein/clock';
import { LogClient } from '@longrein/log/client';
import { LOGGER, type ServiceContext } from '@longrein/service';
import type { FastifyInstance } from 'fastify';
import { TokenBook } from './auth/token-book.js';
import type { GatewayConfig } from './config.js';
import { ErrorFilter } from './http/error-filter.js';
import { readJsonStrictly } from './http/json-body.js';
import { SessionsController } from './http/sessions.controller.js';
import { SocketPathController } from './http/socket-path.controller.js';
import { RegistryInputs } from './sessions/registry-inputs.js';
import { SessionCommands } from './sessions/session-commands.js';
import { SessionStates } from './sessions/session-states.js';
import { GatedLog } from './socket/gated-log.js';
import { ReplayGate } from './socket/replay-gate.js';
import { SocketServer } from './socket/socket-server.js';
import { Steering } from './socket/steering.js';
import { COMMANDS, LOG, STATES, TOKENS } from './tokens.js';

type Context = ServiceContext<GatewayConfig>;

const CONTEXT = Symbol('CONTEXT');

/** Attaches the sockets to the service's HTTP server. */
@Injectable()
class Sockets implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #steering: Steering;
  readonly #sockets: SocketServer;

  constructor(
    @Inject(CONTEXT) context: Context,
    @Inject(COMMANDS) commands: SessionCommands,
    @Inject(TOKENS) tokens: () => TokenBook,
    @Inject(LOGGER) logger: Context['logger'],
    @Inject(HttpAdapterHost) private readonly host: HttpAdapterHost,
  ) {
    const { socket: limits, partitions } = context.config;
    this.#steering = new Steering(context.nats);
    const gate = new ReplayGate(limits.concurrent_replays);
    const replays = new GatedLog(context.nats, { service: 'gateway', partitions }, gate);
    const shared = { replays, commands, steering: this.#steering, limits, clock: systemClock, logger };
    this.#sockets = new SocketServer(shared, tokens);
  }

  onApplicationBootstrap(): void {
    this.#steering.start();
    const { httpAdapter } = this.host;
    readJsonStrictly(httpAdapter.getInstance<FastifyInstance>());
    this.#sockets.attach(httpAdapter.getHttpServer() as Server);
  }

  onModuleDestroy(): void {
    this.#sockets.stop();
    this.#steering.stop();
  }
}

/** The gateway's module. */
@Module({})
export class GatewayModule {
  static create(context: Context): DynamicModule {
    const { config, nats } = context;
    const log = new LogClient(nats, { service: 'gateway', partitions: config.partitions });
    const states = new SessionStates(log);
    const book = new TokenBook(config.tokens);
    return {
      module: GatewayModule,
      controllers: [SessionsController, SocketPathController],
      providers: [
        { provide: CONTEXT, useValue: context },
        { provide: LOG, useValue: log },
        { provide: STATES, useValue: states },
        { provide: COMMANDS, useValue: new SessionCommands(log, states, new RegistryInputs(nats)) },
        { provide: TOKENS, useValue: () => book },
        { provide: APP_FILTER, useClass: ErrorFilter },
        Sockets,
      ],
    };
  }
}
