import { systemClock } from '@longrein/clock';
import { Scrubber, type SessionLog } from '@longrein/log';
import { KvDocumentStore, LogClient } from '@longrein/log/client';
import { KvPartitionLeases } from '@longrein/log/jetstream';
import { createModels } from '@longrein/model';
import { CONFIG, HEALTH, IDENTITY, LOGGER, METRICS, NATS, type ServiceContext } from '@longrein/service';
import { NatsToolCatalog, NatsToolExecutor } from '@longrein/tools';
import {
  type DynamicModule,
  Inject,
  Injectable,
  Module,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import type { LoopConfig } from './config.js';
import { natsHooks } from './hooks/nats-hooks.js';
import { countHookFailures, observeLoad } from './metrics.js';
import { LoopEngine } from './partition/loop-engine.js';
import { loopSettings } from './partition/loop-settings.js';

type Context = ServiceContext<LoopConfig>;

/** Starts the loop with the service and hands its turns over when the service stops. */
@Injectable()
class LoopRunner implements OnModuleInit, OnModuleDestroy {
  #engine: LoopEngine | undefined;
  #catalog: NatsToolCatalog | undefined;
  #log: LogClient | undefined;

  constructor(
    @Inject(CONFIG) private readonly config: LoopConfig,
    @Inject(NATS) private readonly nats: Context['nats'],
    @Inject(LOGGER) private readonly logger: Context['logger'],
    @Inject(HEALTH) private readonly health: Context['health'],
    @Inject(METRICS) private readonly metrics: Context['metrics'],
    @Inject(IDENTITY) private readonly identity: Context['identity'],
  ) {}

  async onModuleInit(): Promise<void> {
    const { config, nats, logger, identity } = this;
    const catalog = await NatsToolCatalog.start(nats, {
      report: ({ key, reason }) => logger.warn({ key }, `tool catalog: ${reason}`),
    });
    this.#catalog = catalog;
    const log = new LogClient(nats, {
      service: 'loop',
      partitions: config.partitions,
      on_trouble: (trouble, where) => logger.warn({ err: trouble, where }, 'trouble with the log'),
    });
    this.#log = log;
    const ports = {
      log: log as SessionLog,
      documents: await KvDocumentStore.open(nats, { replicas: config.replicas }),
      model: createModels({ providers: config.providers }),
      catalog,
      executor: new NatsToolExecutor(nats, catalog, { report: (problem) => logger.warn(problem, 'a tool misbehaves') }),
      scrubber: new Scrubber(config.scrub),
      clock: systemClock,
      logger,
    };
    const settings = loopSettings(ports, {
      owner: identity.instance,
      models: config.model === undefined ? {} : { main: config.model },
      policy: config.policy,
      scrub_rules: config.scrub,
      resume: config.resume,
      approvals: config.approvals,
      drain_ms: config.drain_ms,
      limits: config.limits,
      claim_hooks: natsHooks(nats, config.hooks, { logger, failed: countHookFailures(this.metrics) }),
    });
    const leases = new KvPartitionLeases(nats, {
      scope: 'loop',
      replica: identity.instance,
      partitions: config.partitions,
      ttl_ms: config.lease_ttl_ms,
      replicas: config.replicas,
      onProblem: (problem, error) => logger.warn({ err: error }, problem),
    });
    const engine = new LoopEngine(settings, leases);
    this.#engine = engine;
    observeLoad(this.metrics, () => engine.load);
    // A replica without partitions is ready too, if it can take over what becomes free.
    this.health.readyWhen('loop', () => {
      const { partitions } = engine.load;
      return { ok: partitions > 0 || leases.canOwn, detail: `owns ${partitions} partitions` };
    });
    await engine.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.#engine?.stop();
    await this.#catalog?.stop();
    this.#log?.close();
  }
}

/** The loop's module. */
@Module({})
export class LoopModule {
  static create(): DynamicModule {
    return { module: LoopModule, providers: [LoopRunner] };
  }
}
