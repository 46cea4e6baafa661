import { type RunningService, startService } from '@longrein/service';
import type { LoopConfig } from './config.js';
import { LoopModule } from './loop.module.js';

export { loopConfig, type LoopConfig } from './config.js';
export { LoopEngine } from './partition/loop-engine.js';
export { type LoopOptions, type LoopPorts, type LoopSettings, loopSettings } from './partition/loop-settings.js';

/** Runs a replica of the loop in this process. */
export function startLoop(config: LoopConfig): Promise<RunningService> {
  return startService({
    name: 'loop',
    version: '0.1.0',
    description: "Runs sessions' turns",
    config,
    module: () => LoopModule.create(),
  });
}
