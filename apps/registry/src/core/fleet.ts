import type { AgentEventEnvelope, agentAdmitted, agentReleased, AgentSpec } from '@longrein/events';
import type { NewEvent } from '@longrein/log';
import type { z } from 'zod';
import { AgentCapExceeded, AgentExists } from './errors.js';

/** A live agent, as its admission says. */
export interface LiveAgent {
  readonly agent_id: string;
  readonly session_id: string;
  /** The seq of its admission in the fleet's stream: higher than that of every earlier agent. */
  readonly generation: number;
  /** Id of the admission: the same for a repeated request. */
  readonly admission_id: string;
  readonly admitted_at: string;
  readonly spec: AgentSpec;
  readonly config_revision?: string;
}

/** Who is live: the fold of the fleet's stream. */
export interface Fleet {
  readonly last_seq: number;
  readonly live: ReadonlyMap<string, LiveAgent>;
  /** Agent id by session id. */
  readonly by_session: ReadonlyMap<string, string>;
}

/** A request for an agent. */
export interface Candidate {
  readonly agent_id: string;
  readonly session_id: string;
  readonly spec: AgentSpec;
  readonly config_revision?: string;
  /** The same for every repetition of one request. */
  readonly admission_id: string;
}

type Admitted = z.infer<(typeof agentAdmitted)['schema']>;
type Released = z.infer<(typeof agentReleased)['schema']>;

/** The fleet before its first event. */
export const EMPTY_FLEET: Fleet = { last_seq: -1, live: new Map(), by_session: new Map() };

/** Folds events, in order and without gaps, onto a fleet. Events it has already are skipped. */
export function foldFleet(fleet: Fleet, events: Iterable<AgentEventEnvelope>): Fleet {
  const live = new Map(fleet.live);
  const bySession = new Map(fleet.by_session);
  let last = fleet.last_seq;
  for (const event of events) {
    if (event.seq <= last) continue;
    last = event.seq;
    if (event.type === 'agent/admitted') {
      const { agent_id, session_id, generation, spec = {}, config_revision } = event.payload as Admitted;
      live.set(agent_id, {
        agent_id,
        session_id,
        generation,
        admission_id: event.id,
        admitted_at: event.at,
        spec,
        ...(config_revision !== undefined && { config_revision }),
      });
      bySession.set(session_id, agent_id);
    } else if (event.type === 'agent/released') {
      const { agent_id, generation } = event.payload as Released;
      const agent = live.get(agent_id);
      if (agent?.generation !== generation) continue;
      live.delete(agent_id);
      bySession.delete(agent.session_id);
    }
  }
  return { last_seq: last, live, by_session: bySession };
}

/** What an admission comes to: the event to append right after `fleet.last_seq`, or the agent it was admitted as. */
export type Admission =
  { readonly kind: 'append'; readonly event: NewEvent } | { readonly kind: 'admitted'; readonly agent: LiveAgent };

/**
 * Admits an agent: one per agent id, one per session, at most `maxAgents`. Throws `AgentExists` or `AgentCapExceeded`.
 * The event must be appended under `expect {seq: fleet.last_seq}`, which makes all three exact.
 */
export function decideAdmission(fleet: Fleet, candidate: Candidate, maxAgents: number): Admission {
  const { agent_id, session_id, spec, config_revision, admission_id } = candidate;
  const sameId = fleet.live.get(agent_id);
  if (sameId?.admission_id === admission_id) return { kind: 'admitted', agent: sameId };
  if (sameId) throw new AgentExists('agent_id', agent_id, sameId);
  const sameSession = fleet.live.get(fleet.by_session.get(session_id) ?? '');
  if (sameSession) throw new AgentExists('session_id', session_id, sameSession);
  if (fleet.live.size >= maxAgents) throw new AgentCapExceeded(maxAgents);
  const payload: Admitted = {
    agent_id,
    session_id,
    generation: fleet.last_seq + 1,
    spec,
    ...(config_revision !== undefined && { config_revision }),
  };
  return { kind: 'append', event: { type: 'agent/admitted', payload, event_id: admission_id } };
}

/** Frees an agent's id, session and slot. Nothing when that generation is not live any more. */
export function decideRelease(fleet: Fleet, agent: LiveAgent): NewEvent | undefined {
  if (fleet.live.get(agent.agent_id)?.generation !== agent.generation) return undefined;
  const payload: Released = {
    agent_id: agent.agent_id,
    session_id: agent.session_id,
    generation: agent.generation,
  };
  return { type: 'agent/released', payload, event_id: `release-${agent.generation}` };
}
