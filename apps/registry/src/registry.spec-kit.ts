import type { AgentSpec } from '@longrein/events';
import { MemoryLog, type MemoryLogOptions } from '@longrein/log/memory';
import { Registry } from './registry.js';

/** What the agents of these tests are. */
export const SPEC: AgentSpec = { system_prompt: 'Be brief.', roles: { main: 'test/model' } };

/** A log in memory, and as many registries on it as a test wants. */
export function world(options: { maxAgents?: number } & Pick<MemoryLogOptions, 'schedule'> = {}) {
  const { schedule } = options;
  const log = new MemoryLog({ partitions: 2, ...(schedule && { schedule }) });
  const limits = { max_agents: options.maxAgents ?? 128 };
  const registry = (): Registry =>
    new Registry({
      sessions: log.as('registry'),
      agents: log.as('registry', 'agents'),
      maxAgents: () => limits.max_agents,
    });
  const loop = log.as('loop');
  const append = (id: string, type: string, payload: object) =>
    loop.append(id, { events: [{ type, payload }], since: -1 });
  return {
    log,
    limits,
    registry,
    loop,
    events: async (id: string) => (await loop.read(id, { from_seq: 0 })).events,
    agentEvents: async (id: string) => (await log.as('registry', 'agents').read(id, { from_seq: 0 })).events,
    startTurn: (id: string, turn_id: string) =>
      append(id, 'turn/start', { turn_id, agent: id, input_id: turn_id, epoch: 0 }),
    takeInput: (id: string, input_id: string, text: string) => append(id, 'user/message', { input_id, text }),
    endTurn: (id: string, turn_id: string) => append(id, 'turn/end', { turn_id, status: 'completed' }),
  };
}

/** A request for an agent. */
export const spawn = (agent_id: string, rest: object = {}) => ({ agent_id, spec: SPEC, ...rest });
