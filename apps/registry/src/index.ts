import { type RunningService, startService } from '@longrein/service';
import type { RegistryConfig } from './config.js';
import { RegistryModule } from './registry.module.js';

export { DEFAULT_MAX_AGENTS, registryConfig, type RegistryConfig } from './config.js';

/** Runs a replica of the registry in this process. */
export function startRegistry(config: RegistryConfig): Promise<RunningService> {
  return startService({
    name: 'registry',
    version: '0.1.0',
    description: 'Admits agents and grants their turns',
    config,
    module: (context) => RegistryModule.create(context),
  });
}
