import { z } from 'zod';
import { FrameError } from '../protocol/server-frames.js';
import type { OptionalService } from './optional-service.js';

/** A waking input for a session that belongs to an agent. */
export interface AgentInput {
  readonly session_id: string;
  readonly input_id: string;
  readonly text: string;
}

const agent = z.looseObject({ agent_id: z.string(), session_id: z.string(), status: z.string() });

/** An agent and its status, as the registry tells it. */
export type FleetMember = z.infer<typeof agent>;

/** The registry: decides whether an agent's input starts a turn, and knows the fleet. Rejects with `FrameError`. */
export class RegistryService {
  constructor(private readonly service: OptionalService) {}

  async inject(input: AgentInput): Promise<void> {
    await this.service.request('registry.inject', input, z.looseObject({})).catch((error: unknown) => {
      if (!(error instanceof FrameError)) throw error;
      // There is an agent, so there is a registry.
      throw error.code === 'unsupported' ? new FrameError('unavailable', 'the registry cannot be reached now') : error;
    });
  }

  /** Every live agent with the status of its session's fold. */
  async list(): Promise<readonly FleetMember[]> {
    return (await this.service.request('registry.list', {}, z.looseObject({ agents: z.array(agent) }))).agents;
  }

  /** One live agent, or null. */
  async find(agentId: string): Promise<FleetMember | null> {
    const reply = z.looseObject({ agent: agent.nullable() });
    return (await this.service.request('registry.get', { agent_id: agentId }, reply)).agent;
  }
}
