import { setTimeout as delay } from 'node:timers/promises';
import {
  type DynamicModule,
  Inject,
  Injectable,
  Module,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import type { AgentEventEnvelope } from '@longrein/events';
import { awaitDeployment, KvDocumentStore, LogClient } from '@longrein/log/client';
import { HEALTH, inboxPrefix, LOGGER, RPC, type ServiceContext } from '@longrein/service';
import { AgentsController } from './agents.controller.js';
import type { RegistryConfig } from './config.js';
import { Promoter } from './promoter.js';
import { Registry } from './registry.js';
import { serveRegistry } from './rpc.js';

type Context = ServiceContext<RegistryConfig>;

/** The clients of the log, to be closed at the end. */
const CLIENTS = Symbol('CLIENTS');

/** Wait before an attempt that failed is repeated. */
const PAUSE_MS = 1_000;

/** Serves the commands with the service and stops with it. */
@Injectable()
class RegistryRunner implements OnModuleInit, OnModuleDestroy {
  constructor(
    @Inject(Registry) private readonly registry: Registry,
    @Inject(Promoter) private readonly promoter: Promoter,
    @Inject(RPC) private readonly rpc: Context['rpc'],
    @Inject(HEALTH) private readonly health: Context['health'],
    @Inject(LOGGER) private readonly logger: Context['logger'],
    @Inject(CLIENTS) private readonly clients: readonly Pick<LogClient, 'close'>[],
  ) {}

  onModuleInit(): void {
    this.health.readyWhen('turns', () => {
      const [problem] = this.promoter.problems.values();
      return problem === undefined ? { ok: true } : { ok: false, detail: problem };
    });
    serveRegistry(this.rpc, this.registry);
    this.promoter.start();
    this.logger.debug('serving registry.*');
  }

  async onModuleDestroy(): Promise<void> {
    await this.rpc.stop();
    await this.promoter.stop();
    for (const client of this.clients) client.close();
  }
}

/** The registry's module. */
@Module({})
export class RegistryModule {
  static create({ config, nats, logger }: Context): DynamicModule {
    const shared = {
      service: 'registry',
      partitions: config.partitions,
      inbox_prefix: inboxPrefix('registry'),
      on_trouble: (trouble: Error, where: string) => logger.warn({ err: trouble, where }, 'trouble with the log'),
    } as const;
    const { max_agents, partitions } = config;
    const sessions = new LogClient(nats, shared);
    const agents = new LogClient<AgentEventEnvelope>(nats, { ...shared, kind: 'agents' });
    const maxAgents = typeof max_agents === 'function' ? max_agents : () => max_agents;
    const registry = new Registry({ sessions, agents, maxAgents });
    const promoter = async (): Promise<Promoter> => {
      const onWait = (): void => logger.warn('waiting for the log service to create the streams');
      await awaitDeployment(nats, partitions, { onWait });
      return new Promoter({
        sessions,
        registry,
        documents: await KvDocumentStore.open(nats),
        pause: async (signal) => delay(PAUSE_MS, undefined, { signal }).catch(() => undefined),
        onProblem: (error, where) => logger.warn({ err: error, where }, 'following turns failed'),
      });
    };
    return {
      module: RegistryModule,
      controllers: config.operator_token === undefined ? [] : [AgentsController],
      providers: [
        { provide: Registry, useValue: registry },
        { provide: Promoter, useFactory: promoter },
        { provide: CLIENTS, useValue: [sessions, agents] },
        RegistryRunner,
      ],
    };
  }
}
