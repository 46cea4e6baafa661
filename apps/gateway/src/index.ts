import { type RunningService, startService } from '@longrein/service';
import type { GatewayConfig } from './config.js';
import { GatewayModule } from './gateway.module.js';

export { DEFAULT_SOCKET_LIMITS, gatewayConfig, type GatewayConfig } from './config.js';

/** Runs a replica of the gateway in this process. */
export function startGateway(config: GatewayConfig): Promise<RunningService> {
  return startService({
    name: 'gateway',
    version: '0.1.0',
    description: 'WebSocket and HTTP for clients',
    config,
    module: (context) => GatewayModule.create(context),
  });
}
