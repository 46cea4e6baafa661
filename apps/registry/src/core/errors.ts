import { ServiceError } from '@longrein/service';

/** The agent id, or the session, has a live agent already. */
export class AgentExists extends ServiceError {
  override readonly name = 'AgentExists';

  constructor(what: 'agent_id' | 'session_id', value: string, live: { agent_id: string; session_id: string }) {
    super(
      'agent_exists',
      what === 'agent_id'
        ? `agent ${value} is live already; dispose it first or choose another agent_id`
        : `session ${value} has a live agent already (${live.agent_id}); dispose it first or choose another session_id`,
      { agent_id: live.agent_id, session_id: live.session_id },
    );
  }
}

/** As many agents are live as may be. */
export class AgentCapExceeded extends ServiceError {
  override readonly name = 'AgentCapExceeded';

  constructor(maxAgents: number) {
    super(
      'agent_cap_exceeded',
      `max_agents (${maxAgents}) agents are live; dispose one or raise max_agents (LONGREIN_MAX_AGENTS)`,
      { max_agents: maxAgents },
    );
  }
}

/** No live agent has this id, or is of this session or generation. */
export class AgentNotFound extends ServiceError {
  override readonly name = 'AgentNotFound';

  constructor(message: string) {
    super('agent_not_found', message);
  }
}

/** Only an idle agent can be disposed. */
export class AgentBusy extends ServiceError {
  override readonly name = 'AgentBusy';

  constructor(agentId: string, status: string) {
    super('agent_busy', `agent ${agentId} is ${status}; only an idle agent can be disposed: cancel its turn first`, {
      agent_id: agentId,
      status,
    });
  }
}

/** The session belongs to no agent: its inputs are queued without the registry. */
export class SessionNotConfigured extends ServiceError {
  override readonly name = 'SessionNotConfigured';

  constructor(sessionId: string) {
    super('not_configured', `session ${sessionId} is not configured with an agent; spawn one on it first`);
  }
}
