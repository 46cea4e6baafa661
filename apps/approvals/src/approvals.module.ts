import {
  type DynamicModule,
  Inject,
  Injectable,
  Module,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { LogClient, awaitDeployment } from '@longrein/log/client';
import { RPC, type ServiceContext, inboxPrefix } from '@longrein/service';
import { Approvals } from './approvals.js';
import type { ApprovalsConfig } from './config.js';
import { pendingRequest, resolveRequest } from './requests.js';

type Context = ServiceContext<ApprovalsConfig>;

/** `LogClient` of the service. */
const LOG = Symbol('LOG');

/** Serves `approvals.*` with the service and stops with it. */
@Injectable()
class ApprovalsRunner implements OnModuleInit, OnModuleDestroy {
  constructor(
    @Inject(LOG) private readonly log: LogClient,
    @Inject(RPC) private readonly rpc: Context['rpc'],
  ) {}

  onModuleInit(): void {
    const approvals = new Approvals(this.log);
    this.rpc.serve('resolve', 'approvals.resolve', resolveRequest, (verdict) => approvals.resolve(verdict));
    this.rpc.serve('pending', 'approvals.pending', pendingRequest, ({ session_id }) => approvals.pending(session_id));
  }

  async onModuleDestroy(): Promise<void> {
    await this.rpc.stop();
    this.log.close();
  }
}

/** The approvals service's module. */
@Module({})
export class ApprovalsModule {
  static create({ config, nats, logger }: Context): DynamicModule {
    const log = new LogClient(nats, {
      service: 'approvals',
      partitions: config.partitions,
      inbox_prefix: inboxPrefix('approvals'),
      on_trouble: (trouble: Error, where: string) => logger.warn({ err: trouble, where }, 'trouble with the log'),
    });
    const deployed = async (): Promise<LogClient> => {
      const onWait = (): void => logger.warn('waiting for the log service to create the streams');
      await awaitDeployment(nats, config.partitions, { onWait });
      return log;
    };
    return { module: ApprovalsModule, providers: [{ provide: LOG, useFactory: deployed }, ApprovalsRunner] };
  }
}
