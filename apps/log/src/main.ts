import { bootstrap } from '@longrein/service';
import { logConfig, startLog } from './index.js';

await bootstrap(logConfig, startLog);
