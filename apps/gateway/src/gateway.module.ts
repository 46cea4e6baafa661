import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { systemClock } from '@longrein/clock';
import { SessionStates } from '@longrein/log';
import { LogClient, awaitDeployment } from '@longrein/log/client';
import type { ServiceContext } from '@longrein/service';
import { Authenticator } from './auth/authenticator.js';
import { Limits } from './auth/limits.js';
import { SharedKey, configuredKey } from './auth/ticket-key.js';
import { Tickets } from './auth/tickets.js';
import { TokenStore } from './auth/token-store.js';
import { LiveClients } from './clients/live-clients.js';
import { Sockets } from './clients/sockets.js';
import type { DeployedService, GatewayConfig } from './config.js';
import { ErrorFilter } from './http/error-filter.js';
import { FleetController } from './http/fleet.controller.js';
import { SessionsController } from './http/sessions.controller.js';
import { SocketPathController } from './http/socket-path.controller.js';
import { StreamController } from './http/stream.controller.js';
import { TicketsController } from './http/tickets.controller.js';
import { OptionalService } from './services/optional-service.js';
import { PolicyService } from './services/policies.js';
import { RegistryService } from './services/registry.js';
import { VerdictService } from './services/verdicts.js';
import { SessionCommands } from './sessions/session-commands.js';
import { GatedLog } from './socket/gated-log.js';
import { ReplayGate } from './socket/replay-gate.js';
import { SocketServer } from './socket/socket-server.js';
import { Steering } from './socket/steering.js';
import { EventStreams } from './sse/event-stream.js';
import { AUTHENTICATOR, CLIENTS, COMMANDS, LIMITS, LOG, REGISTRY, STATES, STREAMS } from './tokens.js';

type Context = ServiceContext<GatewayConfig>;

/** The gateway's module. */
@Module({})
export class GatewayModule {
  static create(context: Context): DynamicModule {
    const { config, nats, logger } = context;
    const tokens = new TokenStore(
      { fixed: config.tokens, ...(config.tokens_file !== undefined && { file: config.tokens_file }) },
      logger,
    );
    const tickets = ticketsOf(context, tokens);
    const authenticator = new Authenticator(tokens, tickets);
    const clients = new LiveClients(authenticator);
    const tokenLimits = new Limits(systemClock);

    const logOptions = { service: 'gateway', partitions: config.partitions } as const;
    const log = new LogClient(nats, logOptions);
    const replays = new GatedLog(nats, logOptions, new ReplayGate(config.socket.concurrent_replays));
    const states = new SessionStates(log);
    const services = servicesOf(context);
    const commands = new SessionCommands(log, states, services);
    const steering = new Steering(nats);

    const shared = {
      replays,
      commands,
      steering,
      limits: config.socket,
      tokenLimits,
      clients,
      clock: systemClock,
      logger,
    };
    const started = async (): Promise<TokenStore> => {
      await tokens.start();
      return tokens;
    };
    const deployed = async (): Promise<LogClient> => {
      const onWait = (): void => logger.warn('waiting for the log service to create the streams');
      await awaitDeployment(nats, config.partitions, { onWait });
      return log;
    };
    return {
      module: GatewayModule,
      controllers: [FleetController, SessionsController, SocketPathController, StreamController, TicketsController],
      providers: [
        { provide: TokenStore, useFactory: started },
        { provide: AUTHENTICATOR, useValue: authenticator },
        { provide: LIMITS, useValue: tokenLimits },
        { provide: CLIENTS, useValue: clients },
        { provide: LOG, useFactory: deployed },
        { provide: STATES, useValue: states },
        { provide: REGISTRY, useValue: services.registry },
        { provide: COMMANDS, useValue: commands },
        { provide: STREAMS, useValue: new EventStreams(shared) },
        { provide: Steering, useValue: steering },
        { provide: SocketServer, useValue: new SocketServer(shared, authenticator, clients) },
        { provide: APP_FILTER, useClass: ErrorFilter },
        Sockets,
      ],
    };
  }
}

function ticketsOf({ config, nats }: Context, tokens: TokenStore): Tickets {
  const { key, ttl_ms, replicas } = config.tickets;
  const source = key === undefined ? new SharedKey(nats, replicas) : configuredKey(key);
  return new Tickets(source, () => tokens.book, ttl_ms, systemClock);
}

function servicesOf({ config, nats }: Context) {
  const optional = (name: DeployedService): OptionalService =>
    new OptionalService(nats, name, config.deployed.includes(name));
  return {
    registry: new RegistryService(optional('registry')),
    verdicts: new VerdictService(optional('approvals')),
    policies: new PolicyService(optional('policy')),
  };
}
