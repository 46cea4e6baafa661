import { bootstrap } from '@longrein/service';
import { registryConfig, startRegistry } from './index.js';

await bootstrap(registryConfig, startRegistry);
