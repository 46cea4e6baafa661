import { ConnectionWatch } from '@longrein/log/client';
import type { NatsConnection, Subscription } from '@nats-io/transport-node';

/** Where replicas tell each other of steering connections. */
const SUBJECT = 'gateway.steering';

/** A connection's claim to steer an agent. The higher rank wins, on a tie the higher connection id. */
interface Claim {
  readonly rank: number;
  readonly connection: string;
}

interface Steered extends Claim {
  readonly supersede: () => void;
}

/**
 * One steering connection per agent, over all replicas of the gateway: a newer one supersedes an older one. Ranks are
 * a hybrid logical clock (wall time, but above every rank seen), so that of two claims made at once on two replicas
 * both replicas pick the same winner. A replica that hears a lower claim repeats its own: the other may not know of it.
 */
export class Steering {
  readonly #steered = new Map<string, Steered>();
  #subscription: Subscription | undefined;
  #stopListening: (() => void) | undefined;
  #clock = 0;

  constructor(
    private readonly nats: NatsConnection,
    private readonly now: () => number = Date.now,
  ) {}

  start(): void {
    this.#subscription = this.nats.subscribe(`${SUBJECT}.*`, {
      callback: (error, msg) => {
        const claim = error ? undefined : claimIn(msg.string());
        if (claim) this.#heard(msg.subject.slice(SUBJECT.length + 1), claim);
      },
    });
    // Claims made while the connection was away were not heard, here or elsewhere.
    this.#stopListening = ConnectionWatch.of(this.nats).listen({
      reconnected: () => {
        for (const [agentId, steered] of this.#steered) this.#announce(agentId, steered);
      },
    });
  }

  stop(): void {
    this.#stopListening?.();
    this.#subscription?.unsubscribe();
  }

  /** Makes this the agent's steering connection. */
  take(agentId: string, connection: string, supersede: () => void): void {
    const current = this.#steered.get(agentId);
    this.#clock = Math.max(this.#clock + 1, this.now());
    const steered = { rank: this.#clock, connection, supersede };
    this.#steered.set(agentId, steered);
    current?.supersede();
    this.#announce(agentId, steered);
  }

  /** The connection is gone. */
  drop(agentId: string, connection: string): void {
    if (this.#steered.get(agentId)?.connection === connection) this.#steered.delete(agentId);
  }

  #heard(agentId: string, claim: Claim): void {
    this.#clock = Math.max(this.#clock, claim.rank);
    const current = this.#steered.get(agentId);
    if (!current || current.connection === claim.connection) return;
    if (!outranks(claim, current)) {
      this.#announce(agentId, current);
      return;
    }
    this.#steered.delete(agentId);
    current.supersede();
  }

  #announce(agentId: string, { rank, connection }: Claim): void {
    if (!this.nats.isClosed()) this.nats.publish(`${SUBJECT}.${agentId}`, JSON.stringify({ rank, connection }));
  }
}

function outranks(a: Claim, b: Claim): boolean {
  return a.rank === b.rank ? a.connection > b.connection : a.rank > b.rank;
}

/** What another replica said; nothing when it is not a claim. */
function claimIn(text: string): Claim | undefined {
  try {
    const { rank, connection } = (JSON.parse(text) ?? {}) as Partial<Claim>;
    const isClaim = Number.isSafeInteger(rank) && typeof connection === 'string';
    return isClaim ? ({ rank, connection } as Claim) : undefined;
  } catch {
    return undefined;
  }
}
