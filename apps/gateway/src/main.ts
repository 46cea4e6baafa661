import { bootstrap } from '@longrein/service';
import { gatewayConfig, startGateway } from './index.js';

await bootstrap(gatewayConfig, async (config) => {
  const gateway = await startGateway(config);
  // Where nothing can be reloaded a hangup ends the process, as it does by default.
  if (config.tokens_file !== undefined) process.on('SIGHUP', () => void gateway.reloadTokens());
  return gateway;
});
