import { createHash, timingSafeEqual } from 'node:crypto';
import { matchesAny } from '@longrein/session';
import type { Capability, TokenLimits, TokenRule } from './token-rules.js';

/** What a client may do with one agent. */
export interface Access {
  /** Digest of the token: tells tokens apart without being one. */
  readonly token_id: string;
  readonly name?: string;
  readonly capabilities: ReadonlySet<Capability>;
  readonly limits: TokenLimits;
}

/** A token that is in force. */
export interface KnownToken {
  readonly id: string;
  /** Without the token itself. */
  readonly rule: Omit<TokenRule, 'token'>;
}

interface Entry extends KnownToken {
  readonly digest: Buffer;
}

/** The tokens in force. Compared by digest and in constant time; the tokens themselves are not kept. */
export class TokenBook {
  readonly #entries: readonly Entry[];

  constructor(rules: readonly TokenRule[]) {
    this.#entries = rules.map(({ token, ...rule }) => {
      const digest = digestOf(token);
      return { digest, id: digest.toString('base64url'), rule };
    });
  }

  /** The token of an `Authorization` header; nothing when it is not in force. */
  token(authorization: string | undefined): KnownToken | undefined {
    const token = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) return undefined;
    const digest = digestOf(token);
    let found: KnownToken | undefined;
    for (const entry of this.#entries) if (timingSafeEqual(entry.digest, digest)) found = entry;
    return found;
  }

  /** Access of an `Authorization` header to an agent's session; nothing when there is none. */
  access(authorization: string | undefined, agentId: string): Access | undefined {
    return accessOf(this.token(authorization), agentId);
  }

  /** Access of whoever once presented the token with an id that passes; nothing when it is not in force any more. */
  accessBy(matches: (tokenId: string) => boolean, agentId: string): Access | undefined {
    return accessOf(
      this.#entries.find(({ id }) => matches(id)),
      agentId,
    );
  }
}

function accessOf(known: KnownToken | undefined, agentId: string): Access | undefined {
  if (!known || !matchesAny(known.rule.agents, agentId)) return undefined;
  const { name, capabilities, limits } = known.rule;
  return { token_id: known.id, ...(name !== undefined && { name }), capabilities: new Set(capabilities), limits };
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
