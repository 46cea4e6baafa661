import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '@longrein/clock';
import { z } from 'zod';
import type { Access, TokenBook } from './token-book.js';
import { type Capability, capability } from './token-rules.js';

/** What a ticket says. Everybody can read it; only holders of the key can make it. */
const claims = z.strictObject({
  agent: z.string(),
  capabilities: z.array(capability),
  /** Milliseconds since the Unix epoch. */
  expires: z.int(),
  nonce: z.string(),
  /** Names the token it was bought with: a keyed digest, from which nobody can guess the token. */
  token: z.string(),
});

type Claims = z.infer<typeof claims>;

/** A ticket as it is handed out. */
export interface Ticket {
  readonly ticket: string;
  readonly agent_id: string;
  readonly capabilities: readonly Capability[];
  readonly expires_at: string;
}

/** What tickets are signed with. The same on every replica. */
export interface TicketKey {
  current(): Promise<Buffer>;
}

/**
 * Tickets for clients that cannot set a header: good for one agent, for seconds, and once. Stateless: any replica takes
 * any ticket, and each remembers the ones it took until they expire. A ticket is worth what its token is worth when it
 * is used: rotating the token ends it too.
 */
export class Tickets {
  /** Nonces of tickets that were used, and when they expire. */
  readonly #used = new Map<string, number>();

  constructor(
    private readonly key: TicketKey,
    private readonly book: () => TokenBook,
    private readonly ttlMs: number,
    private readonly clock: Pick<Clock, 'now'>,
  ) {}

  /** Makes a ticket for some or all of what the bearer of `access` may do. */
  async issue(agentId: string, access: Access, wanted?: readonly Capability[]): Promise<Ticket> {
    const key = await this.key.current();
    const expires = this.clock.now() + this.ttlMs;
    const capabilities = [...access.capabilities].filter((name) => wanted?.includes(name) ?? true);
    const body = JSON.stringify({
      agent: agentId,
      capabilities,
      expires,
      nonce: randomBytes(12).toString('base64url'),
      token: tokenTag(key, access.token_id),
    } satisfies Claims);
    const encoded = Buffer.from(body).toString('base64url');
    const ticket = `${encoded}.${sign(key, encoded).toString('base64url')}`;
    return { ticket, agent_id: agentId, capabilities, expires_at: new Date(expires).toISOString() };
  }

  /** Uses a ticket up. Nothing when it is forged, expired, used, for another agent, or its token is not in force. */
  async redeem(ticket: string, agentId: string): Promise<Access | undefined> {
    const key = await this.key.current();
    const said = claimsOf(key, ticket);
    const now = this.clock.now();
    if (!said || said.agent !== agentId || said.expires <= now || this.#used.has(said.nonce)) return undefined;
    const access = this.book().accessBy((id) => tokenTag(key, id) === said.token, agentId);
    if (!access) return undefined;
    this.#forgetExpired(now);
    this.#used.set(said.nonce, said.expires);
    const capabilities = new Set(said.capabilities.filter((name) => access.capabilities.has(name)));
    return { ...access, capabilities };
  }

  /** Those used first expire first, for all of them live equally long. */
  #forgetExpired(now: number): void {
    for (const [nonce, expires] of this.#used) {
      if (expires > now) return;
      this.#used.delete(nonce);
    }
  }
}

function claimsOf(key: Buffer, ticket: string): Claims | undefined {
  const [encoded = '', signature = ''] = ticket.split('.');
  const given = Buffer.from(signature, 'base64url');
  const wanted = sign(key, encoded);
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined;
  try {
    return claims.safeParse(JSON.parse(Buffer.from(encoded, 'base64url').toString('utf8'))).data;
  } catch {
    return undefined;
  }
}

function sign(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(`ticket:${text}`).digest();
}

function tokenTag(key: Buffer, tokenId: string): string {
  return createHmac('sha256', key).update(`token:${tokenId}`).digest('base64url').slice(0, 22);
}
