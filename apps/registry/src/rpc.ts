import type { JsonService } from '@longrein/service';
import { disposeRequest, forSessionRequest, getRequest, injectRequest, listRequest, spawnRequest } from './commands.js';
import type { Registry } from './registry.js';

/** Serves the registry's commands on `registry.<command>`. */
export function serveRegistry(rpc: JsonService, registry: Registry): void {
  rpc.serve('spawn', 'registry.spawn', spawnRequest, (request) => registry.spawn(request));
  rpc.serve('dispose', 'registry.dispose', disposeRequest, (request) => registry.dispose(request));
  rpc.serve('list', 'registry.list', listRequest, async () => ({ agents: await registry.list() }));
  rpc.serve('get', 'registry.get', getRequest, async ({ agent_id }) => ({ agent: await registry.find(agent_id) }));
  rpc.serve('for_session', 'registry.for_session', forSessionRequest, async ({ session_id }) => ({
    agent: await registry.forSession(session_id),
  }));
  rpc.serve('inject', 'registry.inject', injectRequest, (request) => registry.inject(request));
}
