import { type AgentEventEnvelope, FLEET_ID } from '@longrein/events';
import { type EventLog, isLogError, type NewEvent } from '@longrein/log';
import {
  type Candidate,
  decideAdmission,
  decideRelease,
  EMPTY_FLEET,
  type Fleet,
  foldFleet,
  type LiveAgent,
} from '../core/fleet.js';
import { AgentNotFound } from '../core/errors.js';
import { Mutex } from './mutex.js';

const FLEET = 'fleet';

/** The fleet's stream and its fold. Every change is decided on the whole stream and appended right after it. */
export class FleetLog {
  private fleet: Fleet = EMPTY_FLEET;
  private readonly mutex = new Mutex();

  constructor(
    private readonly log: EventLog<AgentEventEnvelope>,
    private readonly maxAgents: () => number,
  ) {}

  /** The fleet as of now: reads what was appended since the last look, by whichever replica. */
  async current(): Promise<Fleet> {
    return this.mutex.run(FLEET, () => this.refresh());
  }

  /** Admits an agent, or finds that this very request was admitted before. */
  async admit(candidate: Candidate): Promise<LiveAgent> {
    return this.mutex.run(FLEET, async () => {
      await this.refresh();
      for (;;) {
        const admission = decideAdmission(this.fleet, candidate, this.maxAgents());
        if (admission.kind === 'admitted') return admission.agent;
        await this.append(admission.event);
      }
    });
  }

  /** Frees an agent's id, session and slot; nothing when that is done already. */
  async release(agent: LiveAgent): Promise<void> {
    await this.mutex.run(FLEET, async () => {
      await this.refresh();
      for (let event = decideRelease(this.fleet, agent); event; event = decideRelease(this.fleet, agent)) {
        await this.append(event);
      }
    });
  }

  /** Appends at the position the fleet is known to; either way the fleet then includes what landed there. */
  private async append(event: NewEvent): Promise<void> {
    const seq = this.fleet.last_seq;
    try {
      await this.log.append(FLEET_ID, { events: [event], expect: { seq }, since: seq });
    } catch (error) {
      if (!isLogError(error, 'conflict')) throw error;
    }
    await this.refresh();
  }

  private async refresh(): Promise<Fleet> {
    if (this.fleet.last_seq < 0) await this.log.create(FLEET_ID);
    for (let next: number | null = this.fleet.last_seq + 1; next !== null;) {
      const page = await this.log.read(FLEET_ID, { from_seq: next });
      this.fleet = foldFleet(this.fleet, page.events);
      next = page.next_seq;
    }
    return this.fleet;
  }
}

/** The live agent of an id. Throws `AgentNotFound`. */
export function liveAgent(fleet: Fleet, agentId: string, generation?: number): LiveAgent {
  const agent = fleet.live.get(agentId);
  if (!agent) throw new AgentNotFound(`no agent ${agentId} is live`);
  if (generation !== undefined && generation !== agent.generation) {
    throw new AgentNotFound(`agent ${agentId} is live in generation ${agent.generation}, not ${generation}`);
  }
  return agent;
}
