import { randomUUID } from 'node:crypto';
import type { AgentEventEnvelope, EventEnvelope } from '@longrein/events';
import { type EventLog, isLogError } from '@longrein/log';
import { type SessionStatus, status } from '@longrein/session';
import type { DisposeRequest, InjectRequest, SpawnRequest } from './commands.js';
import { decideInput, decidePromotion, standingGrants, turnsToRevoke } from './core/decide-input.js';
import { AgentBusy, AgentNotFound, SessionNotConfigured } from './core/errors.js';
import type { LiveAgent } from './core/fleet.js';
import { AgentStreams } from './log/agent-streams.js';
import { FleetLog, liveAgent } from './log/fleet-log.js';
import { Mutex } from './log/mutex.js';
import { SessionViews } from './log/session-views.js';

/** A live agent as callers see it. */
export interface AgentInfo {
  readonly agent_id: string;
  readonly session_id: string;
  readonly generation: number;
  readonly admitted_at: string;
  readonly status: SessionStatus;
}

/** What a registry works on. */
export interface RegistryOptions {
  readonly sessions: EventLog<EventEnvelope>;
  readonly agents: EventLog<AgentEventEnvelope>;
  /** Asked at every spawn, so that the cap can change while running. */
  readonly maxAgents: () => number;
}

/** Where an injected input went. */
export interface Injected {
  readonly input_id: string;
  readonly seq: number;
  readonly at: string;
}

/**
 * Agents and the turns they are granted. Holds nothing that is not in the log: any number of registries may run, and
 * what one left half done another completes.
 */
export class Registry {
  private readonly fleet: FleetLog;
  private readonly streams: AgentStreams;
  private readonly views: SessionViews;
  private readonly mutex = new Mutex();

  constructor(options: RegistryOptions) {
    this.fleet = new FleetLog(options.agents, options.maxAgents);
    this.streams = new AgentStreams(options.agents);
    this.views = new SessionViews(options.sessions);
  }

  /** Makes an agent live. Throws `AgentExists`, `AgentCapExceeded`. */
  async spawn(request: SpawnRequest): Promise<AgentInfo> {
    const { agent_id, session_id = agent_id, spec, config_revision, request_id = randomUUID() } = request;
    const agent = await this.fleet.admit({
      agent_id,
      session_id,
      spec,
      admission_id: `admit:${request_id}`,
      ...(config_revision !== undefined && { config_revision }),
    });
    await this.complete(agent);
    return this.info(agent);
  }

  /** Retires an idle agent; its id, session and slot are free afterwards. Throws `AgentBusy`, `AgentNotFound`. */
  async dispose({ agent_id, generation, reason }: DisposeRequest): Promise<{ session_id: string; generation: number }> {
    const agent = liveAgent(await this.fleet.current(), agent_id, generation);
    await this.mutex.run(agent.session_id, async () => {
      if ((await this.streams.current(agent_id)).disposed < agent.generation) await this.requireIdle(agent);
      await this.retire(agent, reason);
    });
    return { session_id: agent.session_id, generation: agent.generation };
  }

  /** The live agent of an id. Throws `AgentNotFound`. */
  async get(agentId: string): Promise<AgentInfo> {
    return this.info(liveAgent(await this.fleet.current(), agentId));
  }

  /** The live agent of an id, or null. */
  async find(agentId: string): Promise<AgentInfo | null> {
    const agent = (await this.fleet.current()).live.get(agentId);
    return agent ? this.info(agent) : null;
  }

  /** The live agent of a session, or null. */
  async forSession(sessionId: string): Promise<AgentInfo | null> {
    const agent = await this.liveFor(sessionId);
    return agent ? this.info(agent) : null;
  }

  /** The live agent of a session as the fleet knows it. */
  async liveFor(sessionId: string): Promise<LiveAgent | undefined> {
    const { live, by_session } = await this.fleet.current();
    return live.get(by_session.get(sessionId) ?? '');
  }

  /** Every live agent, in the order of admission. */
  async list(): Promise<readonly AgentInfo[]> {
    const { live } = await this.fleet.current();
    return Promise.all([...live.values()].map((agent) => this.info(agent)));
  }

  /** Live agents as the fleet knows them, without a look at their sessions. */
  async live(): Promise<readonly LiveAgent[]> {
    return [...(await this.fleet.current()).live.values()];
  }

  /**
   * Takes a waking input: idle sessions are granted a turn, busy ones steered. Repeating the same `input_id` is the
   * same input. Throws `SessionNotConfigured`, `AgentNotFound`.
   */
  async inject({ session_id, ...input }: InjectRequest): Promise<Injected> {
    return this.mutex.run(session_id, async () => {
      const agent = await this.agentOf(session_id);
      const stored = await this.views.change(session_id, (view) =>
        decideInput(view, definedOnly(input), agent.generation),
      );
      if (!stored) throw new Error('an input is never left undecided');
      // A disposal on another replica may have looked at the session just before: then it wins, and the turn ends.
      if (stored.as === 'grant' && (await this.streams.current(agent.agent_id)).disposed >= agent.generation) {
        await this.revokeGrants(agent);
        throw new AgentNotFound(`agent ${agent.agent_id} was disposed; its session takes no more turns`);
      }
      return { input_id: input.input_id, seq: stored.seq, at: stored.at };
    });
  }

  /** Grants a turn to a waking input that the last turn left over. Whether there was one. */
  async promote(agent: LiveAgent): Promise<boolean> {
    return this.mutex.run(agent.session_id, async () => {
      const fleet = await this.fleet.current();
      if (fleet.live.get(agent.agent_id)?.generation !== agent.generation) return false;
      const stored = await this.views.change(agent.session_id, (view) => decidePromotion(view, agent.generation));
      if (stored && (await this.streams.current(agent.agent_id)).disposed >= agent.generation) {
        await this.revokeGrants(agent);
      }
      return stored !== undefined;
    });
  }

  /** Completes what a registry that died left half done: spawns without their session, disposals without release. */
  async reconcile(): Promise<void> {
    for (const agent of await this.live()) {
      const { started, disposed } = await this.streams.current(agent.agent_id);
      if (disposed >= agent.generation) await this.retire(agent, undefined);
      else if (started < agent.generation) await this.complete(agent);
    }
  }

  /** Everything a spawn does after the admission. Each part is skipped when it is in the log. */
  private async complete(agent: LiveAgent): Promise<void> {
    const { agent_id, session_id, generation, spec, config_revision } = agent;
    const revision = config_revision === undefined ? {} : { config_revision };
    await this.views.create(session_id);
    await this.views.change(session_id, ({ state, seq }) => {
      if ((state.configuration?.generation ?? -1) >= generation) return undefined;
      const payload = { agent_id, generation, ...revision, spec };
      return {
        event: { type: 'session/configured', payload, event_id: `configured:${generation}` },
        expect: { seq, none_of: ['session/configured'] },
      };
    });
    await this.streams.change(agent_id, ({ started, disposed }) =>
      started >= generation || disposed >= generation
        ? undefined
        : {
            type: 'agent/started',
            payload: { spec, session_id, generation, ...revision },
            event_id: `started:${generation}`,
          },
    );
  }

  private async requireIdle(agent: LiveAgent): Promise<void> {
    const state = await this.stateOf(agent);
    if (!state) return;
    const current = status(state);
    if (current !== 'idle') throw new AgentBusy(agent.agent_id, current);
    if (standingGrants(state).length > 0) throw new AgentBusy(agent.agent_id, 'about to run');
  }

  /** Disposal wins over a grant that another replica made meanwhile: its turn is cancelled. */
  private async retire(agent: LiveAgent, reason: string | undefined): Promise<void> {
    const { agent_id, generation } = agent;
    await this.streams.change(agent_id, ({ disposed }) =>
      disposed >= generation
        ? undefined
        : {
            type: 'agent/disposed',
            payload: { generation, ...(reason !== undefined && { reason }) },
            event_id: `disposed:${generation}`,
          },
    );
    await this.revokeGrants(agent);
    await this.fleet.release(agent);
  }

  /** Cancels what was granted to a disposed agent and has not ended. */
  private async revokeGrants(agent: LiveAgent): Promise<void> {
    for (;;) {
      const state = await this.stateOf(agent);
      const [turnId] = state ? turnsToRevoke(state, agent.generation) : [];
      if (turnId === undefined) return;
      await this.views.change(agent.session_id, ({ seq }) => ({
        event: {
          type: 'turn/cancel_requested',
          payload: { turn_id: turnId, reason: 'the agent was disposed' },
          event_id: `revoke:${agent.generation}:${seq}`,
        },
        expect: { seq },
      }));
    }
  }

  private async agentOf(sessionId: string): Promise<LiveAgent> {
    const agent = await this.liveFor(sessionId);
    if (agent) return agent;
    try {
      const { state } = await this.views.current(sessionId);
      if (state.configuration) {
        const { agent_id } = state.configuration;
        throw new AgentNotFound(`agent ${agent_id} of session ${sessionId} is not live; spawn it again`);
      }
    } catch (error) {
      if (!isLogError(error, 'unknown_session')) throw error;
    }
    throw new SessionNotConfigured(sessionId);
  }

  private async stateOf(agent: LiveAgent) {
    try {
      return (await this.views.current(agent.session_id)).state;
    } catch (error) {
      if (isLogError(error, 'unknown_session')) return undefined;
      throw error;
    }
  }

  private async info(agent: LiveAgent): Promise<AgentInfo> {
    const { agent_id, session_id, generation, admitted_at } = agent;
    const state = await this.stateOf(agent);
    return { agent_id, session_id, generation, admitted_at, status: state ? status(state) : 'idle' };
  }
}

/** A copy without the fields that are undefined, which events must not carry. */
function definedOnly<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as never;
}
