import type { Authenticator } from '../auth/authenticator.js';
import type { Access } from '../auth/token-book.js';

/** A client that stays: a socket or an event stream. */
export interface LiveClient {
  readonly agentId: string;
  readonly access: Access;
  /** Ends it because what it was let in with is no longer good for it. */
  revoke(): void;
}

/** The clients that are connected to this replica. */
export class LiveClients {
  readonly #clients = new Set<LiveClient>();

  constructor(private readonly authenticator: Pick<Authenticator, 'stillGood'>) {}

  /** Counts a client in until the function returned is called. */
  add(client: LiveClient): () => void {
    this.#clients.add(client);
    return () => this.#clients.delete(client);
  }

  /** Drops those whom the tokens in force no longer allow what they were let in for; the others notice nothing. */
  recheck(): void {
    for (const client of [...this.#clients]) {
      if (!this.authenticator.stillGood(client.access, client.agentId)) client.revoke();
    }
  }
}
