import type { AgentEventEnvelope, agentDisposed, agentStarted } from '@longrein/events';
import type { z } from 'zod';

/** What an agent's own stream says about its latest generation. */
export interface AgentState {
  readonly last_seq: number;
  /** Generation that started last, -1 for none. */
  readonly started: number;
  /** Generation that was disposed last, -1 for none. */
  readonly disposed: number;
}

/** The state of an agent that never was. */
export const NO_AGENT: AgentState = { last_seq: -1, started: -1, disposed: -1 };

/** Folds an agent's events, in order. Events it has already are skipped; unknown types only move the position. */
export function foldAgent(state: AgentState, events: Iterable<AgentEventEnvelope>): AgentState {
  let folded = state;
  for (const event of events) {
    if (event.seq <= folded.last_seq) continue;
    folded = { ...folded, last_seq: event.seq };
    if (event.type === 'agent/started') {
      const { generation } = event.payload as z.infer<(typeof agentStarted)['schema']>;
      folded = { ...folded, started: generation };
    } else if (event.type === 'agent/disposed') {
      const { generation } = event.payload as z.infer<(typeof agentDisposed)['schema']>;
      folded = { ...folded, disposed: generation };
    }
  }
  return folded;
}
