import {
  type DynamicModule,
  Inject,
  Injectable,
  Module,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { Scrubber } from '@longrein/log';
import {
  KvPartitionLeases,
  LogServer,
  type LogServerNotice,
  StreamApi,
  StreamFill,
  provision,
} from '@longrein/log/jetstream';
import { CONFIG, HEALTH, IDENTITY, LOGGER, METRICS, NATS, type ServiceContext } from '@longrein/service';
import { streamName } from '@longrein/events';
import type { LogConfig } from './config.js';
import { observeLog } from './metrics.js';
import { requireProductionServer } from './production.js';

type Context = ServiceContext<LogConfig>;

/** Starts the log server with the service and stops it with the service. */
@Injectable()
class LogRunner implements OnModuleInit, OnModuleDestroy {
  #server: LogServer | undefined;
  #fill: StreamFill | undefined;

  constructor(
    @Inject(CONFIG) private readonly config: LogConfig,
    @Inject(NATS) private readonly nats: Context['nats'],
    @Inject(LOGGER) private readonly logger: Context['logger'],
    @Inject(HEALTH) private readonly health: Context['health'],
    @Inject(METRICS) private readonly metrics: Context['metrics'],
    @Inject(IDENTITY) private readonly identity: Context['identity'],
  ) {}

  async onModuleInit(): Promise<void> {
    const { config, nats, logger } = this;
    if (config.production) requireProductionServer(nats.info?.version, config.stream_replicas);
    await provision(nats, {
      partitions: config.partitions,
      replicas: config.stream_replicas,
      ...(config.stream_max_bytes !== undefined && { max_bytes: config.stream_max_bytes }),
    });
    const leases = new KvPartitionLeases(nats, {
      scope: 'log',
      replica: this.identity.instance,
      partitions: config.partitions,
      ttl_ms: config.lease_ttl_ms,
      replicas: config.stream_replicas,
      onProblem: (problem, error) => logger.warn({ err: error }, problem),
    });
    const server = new LogServer(nats, {
      partitions: config.partitions,
      scrubber: new Scrubber(config.scrub),
      leases,
      onNotice: (notice) => this.#report(notice),
    });
    this.#server = server;
    // A replica without partitions is ready too: it answers reads and takes over what becomes free.
    this.health.readyWhen('log', () => {
      const owned = server.owned.length;
      return { ok: owned > 0 || leases.canOwn, detail: `owns ${owned} partitions` };
    });
    const fill = this.#watchStreams(server);
    this.#fill = fill;
    observeLog(this.metrics, () => ({ partitions: server.owned.length, levels: fill.levels }));
    await server.start();
    void fill.start();
  }

  async onModuleDestroy(): Promise<void> {
    this.#fill?.stop();
    await this.#server?.stop();
  }

  #watchStreams(server: LogServer): StreamFill {
    const { nats, logger } = this;
    return new StreamFill(new StreamApi(nats), {
      streams: () =>
        server.owned.flatMap((partition) => [streamName('sessions', partition), streamName('agents', partition)]),
      onAlarm: ({ stream, bytes, max_bytes }) => {
        const percent = Math.floor((100 * bytes) / max_bytes);
        logger.warn(
          { stream, bytes, max_bytes, percent },
          `${stream} is ${percent} % full: raise its max_bytes before appends are refused`,
        );
      },
      onProblem: (error) => logger.debug({ err: error }, 'the fill of a stream was not read'),
    });
  }

  #report(notice: LogServerNotice): void {
    const { event, ...details } = notice;
    if (event === 'fault') this.logger.error({ err: notice.error, subject: notice.subject }, 'a request failed');
    else if (event === 'ended' && !notice.reason.startsWith('stopped')) this.logger.warn(details, 'partition ended');
    else this.logger.debug(details, `partition ${event}`);
  }
}

/** The log service's module. */
@Module({})
export class LogModule {
  static create(): DynamicModule {
    return { module: LogModule, providers: [LogRunner] };
  }
}
