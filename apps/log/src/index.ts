import { type RunningService, startService } from '@longrein/service';
import type { LogConfig } from './config.js';
import { LogModule } from './log.module.js';

export { logConfig, type LogConfig } from './config.js';

/** Runs a replica of the log service in this process. */
export function startLog(config: LogConfig): Promise<RunningService> {
  return startService({
    name: 'log',
    version: '0.1.0',
    description: 'Owns the streams; the only writer',
    config,
    module: () => LogModule.create(),
  });
}
