import { bootstrap } from '@longrein/service';
import { loopConfig, startLoop } from './index.js';

await bootstrap(loopConfig, startLoop);
