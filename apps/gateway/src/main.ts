import { bootstrap } from '@longrein/service';
import { gatewayConfig, startGateway } from './index.js';

await bootstrap(gatewayConfig, startGateway);
