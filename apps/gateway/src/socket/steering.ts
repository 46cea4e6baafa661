import type { NatsConnection, Subscription } from '@nats-io/transport-node';

/** Where replicas tell each other of new steering connections. */
const SUBJECT = 'gateway.steering';

interface Steered {
  readonly connection: string;
  readonly supersede: () => void;
}

/** One steering connection per agent, over all replicas of the gateway: a newer one supersedes an older one. */
export class Steering {
  readonly #steered = new Map<string, Steered>();
  #subscription: Subscription | undefined;

  constructor(private readonly nats: NatsConnection) {}

  start(): void {
    this.#subscription = this.nats.subscribe(`${SUBJECT}.*`, {
      callback: (error, msg) => {
        if (error) return;
        const agentId = msg.subject.slice(SUBJECT.length + 1);
        this.#supersede(agentId, msg.string());
      },
    });
  }

  stop(): void {
    this.#subscription?.unsubscribe();
  }

  /** Makes this the agent's steering connection. */
  take(agentId: string, connection: string, supersede: () => void): void {
    this.#supersede(agentId, connection);
    this.#steered.set(agentId, { connection, supersede });
    this.nats.publish(`${SUBJECT}.${agentId}`, connection);
  }

  /** The connection is gone. */
  drop(agentId: string, connection: string): void {
    if (this.#steered.get(agentId)?.connection === connection) this.#steered.delete(agentId);
  }

  #supersede(agentId: string, by: string): void {
    const current = this.#steered.get(agentId);
    if (!current || current.connection === by) return;
    this.#steered.delete(agentId);
    current.supersede();
  }
}
