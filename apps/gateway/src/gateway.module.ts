import type { Server } from 'node:http';
import {
  type DynamicModule,
  Inject,
  Injectable,
  Module,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { SessionLog } from '@longrein/log';
import { LogClient } from '@longrein/log/client';
import { LOGGER, type ServiceContext } from '@longrein/service';
import { TokenBook } from './auth/token-book.js';
import type { GatewayConfig } from './config.js';
import { SessionsController } from './http/sessions.controller.js';
import { RegistryInputs } from './sessions/registry-inputs.js';
import { SessionCommands } from './sessions/session-commands.js';
import { SessionStates } from './sessions/session-states.js';
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
    @Inject(LOG) log: SessionLog,
    @Inject(COMMANDS) commands: SessionCommands,
    @Inject(TOKENS) tokens: () => TokenBook,
    @Inject(LOGGER) logger: Context['logger'],
    @Inject(HttpAdapterHost) private readonly host: HttpAdapterHost,
  ) {
    const { socket: limits } = context.config;
    this.#steering = new Steering(context.nats);
    const gate = new ReplayGate(limits.concurrent_replays);
    this.#sockets = new SocketServer({ log, commands, steering: this.#steering, gate, limits, logger }, tokens);
  }

  onApplicationBootstrap(): void {
    this.#steering.start();
    this.#sockets.attach(this.host.httpAdapter.getHttpServer() as Server);
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
      controllers: [SessionsController],
      providers: [
        { provide: CONTEXT, useValue: context },
        { provide: LOG, useValue: log },
        { provide: STATES, useValue: states },
        { provide: COMMANDS, useValue: new SessionCommands(log, states, new RegistryInputs(nats)) },
        { provide: TOKENS, useValue: () => book },
        Sockets,
      ],
    };
  }
}
