import { type RunningService, startService } from '@longrein/service';
import { ApprovalsModule } from './approvals.module.js';
import type { ApprovalsConfig } from './config.js';

export { approvalsConfig, type ApprovalsConfig } from './config.js';

/** Runs a replica of the approvals service in this process. */
export function startApprovals(config: ApprovalsConfig): Promise<RunningService> {
  return startService({
    name: 'approvals',
    version: '0.1.0',
    description: 'Takes verdicts on calls that wait for one',
    config,
    module: (context) => ApprovalsModule.create(context),
  });
}
