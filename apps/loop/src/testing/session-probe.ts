import type { EventEnvelope, ServiceName } from '@longrein/events';
import { type SessionState, fold } from '@longrein/session';
import type { Deployment } from './loop-fixture.js';

/** A test's view of one session: what clients and other services append, and what the log holds. */
export class SessionProbe {
  #inputs = 0;

  constructor(
    readonly id: string,
    private readonly deployment: Deployment,
  ) {}

  /** Appends as a service, without a condition. */
  async append(service: ServiceName, type: string, payload: unknown): Promise<number> {
    const log = this.deployment.as(service);
    // How far the session was seen: the log looks for an earlier try of this append above it, and no further back.
    const { last_seq: since } = await log.read(this.id, { from_seq: 0, limit: 1 });
    const { seq } = await log.append(this.id, { events: [{ type, payload }], since });
    return seq;
  }

  /** Queues an input; waking unless told otherwise. Returns its id. */
  async inject(text: string, { wake = true, ...more }: Record<string, unknown> = {}): Promise<string> {
    const input_id = `i${++this.#inputs}`;
    const service = 'grant' in more ? 'registry' : 'gateway';
    await this.append(service, 'input/queued', { input_id, text, wake, ...more });
    return input_id;
  }

  /** Cancels the open turn. */
  async cancel(options: { reason?: string; hard?: boolean } = {}): Promise<void> {
    const { turn } = await this.state();
    if (!turn) throw new Error('no turn is open to cancel');
    await this.append('gateway', 'turn/cancel_requested', { turn_id: turn.turn_id, ...options });
  }

  /** Everything the session holds. */
  async events(): Promise<EventEnvelope[]> {
    const events: EventEnvelope[] = [];
    const log = this.deployment.as('gateway');
    for (let next: number | null = 0; next !== null;) {
      const page = await log.read(this.id, { from_seq: next });
      events.push(...page.events);
      next = page.next_seq;
    }
    return events;
  }

  /** Types of the session's events in order, without chunks. */
  async types(): Promise<string[]> {
    return (await this.events()).map(({ type }) => type).filter((type) => type !== 'assistant/chunk');
  }

  /** Payloads of every event of a type. */
  async payloads<Payload = Record<string, unknown>>(type: string): Promise<Payload[]> {
    return (await this.events()).filter((event) => event.type === type).map(({ payload }) => payload as Payload);
  }

  /** The fold of the log. */
  async state(): Promise<SessionState> {
    return fold(await this.events());
  }

  /** Resolves with the `count`th event of a type, as soon as it is in the log; rejects when given up before. */
  async until(type: string, count = 1, given_up?: AbortSignal): Promise<EventEnvelope> {
    const ended = new AbortController();
    given_up?.addEventListener('abort', () => ended.abort(), { once: true });
    let seen = 0;
    for await (const event of this.deployment.as('gateway').follow(this.id, { from_seq: 0, signal: ended.signal })) {
      if (event.type === type && ++seen === count) {
        ended.abort();
        return event;
      }
    }
    throw new Error(`the log of ${this.id} ended before ${type} number ${count}`);
  }
}
