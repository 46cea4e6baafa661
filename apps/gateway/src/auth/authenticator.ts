import type { Access } from './token-book.js';
import type { Tickets } from './tickets.js';
import type { TokenStore } from './token-store.js';

/** What a client shows of itself. */
export interface Credentials {
  readonly authorization?: string | undefined;
  readonly ticket?: string | undefined;
}

/** Tells what a client may do. */
export class Authenticator {
  constructor(
    readonly tokens: TokenStore,
    readonly tickets: Tickets,
  ) {}

  /**
   * What a client may do with an agent; nothing when it shows nothing good. A ticket is used up by this. Rejects with
   * `FrameError` when that cannot be told now.
   */
  async identify({ authorization, ticket }: Credentials, agentId: string): Promise<Access | undefined> {
    if (authorization === undefined && ticket !== undefined) return this.tickets.redeem(ticket, agentId);
    return this.tokens.book.access(authorization, agentId);
  }

  /** Whether a client still may do all that it was let in for. */
  stillGood({ token_id, capabilities }: Access, agentId: string): boolean {
    const now = this.tokens.book.accessBy((id) => id === token_id, agentId);
    return now !== undefined && [...capabilities].every((name) => now.capabilities.has(name));
  }
}
