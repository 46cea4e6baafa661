import { bootstrap } from '@longrein/service';
import { approvalsConfig, startApprovals } from './index.js';

await bootstrap(approvalsConfig, startApprovals);
