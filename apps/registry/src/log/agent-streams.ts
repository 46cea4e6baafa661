import type { AgentEventEnvelope } from '@longrein/events';
import { type EventLog, isLogError, type NewEvent } from '@longrein/log';
import { type AgentState, foldAgent, NO_AGENT } from '../core/agent-stream.js';

/** Agents' own streams. */
export class AgentStreams {
  constructor(private readonly log: EventLog<AgentEventEnvelope>) {}

  /** What the agent's stream says now. An agent without a stream is one that never was. */
  async current(agentId: string): Promise<AgentState> {
    let state = NO_AGENT;
    try {
      for (let next: number | null = 0; next !== null;) {
        const page = await this.log.read(agentId, { from_seq: next });
        state = foldAgent(state, page.events);
        next = page.next_seq;
      }
    } catch (error) {
      if (!isLogError(error, 'unknown_session')) throw error;
    }
    return state;
  }

  /** Appends what is decided on the stream as it is, until it holds or nothing is left to append. */
  async change(agentId: string, decide: (state: AgentState) => NewEvent | undefined): Promise<void> {
    await this.log.create(agentId);
    for (;;) {
      const state = await this.current(agentId);
      const event = decide(state);
      if (!event) return;
      try {
        await this.log.append(agentId, { events: [event], expect: { seq: state.last_seq }, since: state.last_seq });
        return;
      } catch (error) {
        if (!isLogError(error, 'conflict')) throw error;
      }
    }
  }
}
