import { type EventEnvelope, liveSubjects, partitionOf } from '@longrein/events';
import type { Subscription } from '@nats-io/nats-core';
import { PARTITIONS, type TurnDeployment } from './deployment.js';
import { QUESTION } from './script.js';

/** A turn that must have ended by now: the bench would otherwise wait for ever. */
const TURN_TIMEOUT_MS = 30_000;

/** A session that a client asks one thing after the other, each when the turn before it has ended. */
export class Conversation {
  readonly #following: Subscription;
  readonly #watchers = new Map<string, () => void>();
  #ended: ((event: EventEnvelope) => void) | undefined;
  #asked = 0;

  private constructor(
    private readonly deployment: TurnDeployment,
    readonly id: string,
    private last: number,
  ) {
    const subject = liveSubjects('sessions', partitionOf(id, PARTITIONS), id);
    this.#following = deployment.nc.subscribe(subject, { callback: (_, message) => this.#see(message.json()) });
  }

  static async open(deployment: TurnDeployment, id: string): Promise<Conversation> {
    const { last_seq } = await deployment.client.create(id);
    const conversation = new Conversation(deployment, id, last_seq);
    await deployment.nc.flush();
    return conversation;
  }

  /** Resolves when the session has stored an event of this type. */
  next(type: string): Promise<void> {
    return new Promise((resolve) => this.#watchers.set(type, resolve));
  }

  /** Asks, and resolves when the turn has completed: milliseconds, as the client sees it. */
  async turn(): Promise<number> {
    const begin = performance.now();
    const { promise, resolve, reject } = Promise.withResolvers<EventEnvelope>();
    const timer = setTimeout(() => reject(new Error(`${this.id}: no turn/end in time`)), TURN_TIMEOUT_MS);
    this.#ended = resolve;
    try {
      const payload = { input_id: `${this.id}/${this.#asked++}`, text: QUESTION, wake: true };
      const request = { events: [{ type: 'input/queued', payload, event_id: payload.input_id }], since: this.last };
      const [end] = await Promise.all([promise, this.deployment.client.append(this.id, request)]);
      const { status } = end.payload as { status: string };
      if (status !== 'completed') throw new Error(`${this.id}: a turn ended as ${JSON.stringify(end.payload)}`);
      return performance.now() - begin;
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    this.#following.unsubscribe();
  }

  #see(event: EventEnvelope): void {
    this.last = Math.max(this.last, event.seq);
    this.#watchers.get(event.type)?.();
    this.#watchers.delete(event.type);
    if (event.type === 'turn/end') this.#ended?.(event);
  }
}
