import { type RunningService, startService } from '@longrein/service';
import { TokenStore } from './auth/token-store.js';
import type { GatewayConfig } from './config.js';
import { GatewayModule } from './gateway.module.js';

export { DEFAULT_SOCKET_LIMITS, gatewayConfig, type GatewayConfig } from './config.js';

/** A replica of the gateway. */
export interface RunningGateway extends RunningService {
  /** Reads the tokens file again. Resolves when what it says is in force, or was refused and reported. */
  reloadTokens(): Promise<void>;
}

/** Runs a replica of the gateway in this process. */
export async function startGateway(config: GatewayConfig): Promise<RunningGateway> {
  const service = await startService({
    name: 'gateway',
    version: '0.1.0',
    description: 'WebSocket and HTTP for clients',
    config,
    module: (context) => GatewayModule.create(context),
  });
  return { ...service, reloadTokens: () => service.app.get(TokenStore).reload() };
}
