import { createHash, timingSafeEqual } from 'node:crypto';
import { matchesAny } from '@longrein/session';
import { z } from 'zod';

/** What a token may be used for. */
export const capability = z.enum(['read', 'steer', 'approve', 'policy', 'model']);

export type Capability = z.infer<typeof capability>;

/** One token of the configuration. */
export const tokenRule = z.strictObject({
  token: z.string().min(8, 'must have at least 8 characters'),
  /** Patterns of the agent and session ids it is good for. */
  agents: z.array(z.string().min(1)).min(1).default(['*']),
  capabilities: z.array(capability).min(1).default(capability.options),
});

export const tokenRules = z.array(tokenRule).min(1, 'needs at least one token');

export type TokenRule = z.infer<typeof tokenRule>;

/** What the bearer of a token may do with one agent. */
export interface Access {
  readonly capabilities: ReadonlySet<Capability>;
}

interface Entry {
  readonly digest: Buffer;
  readonly rule: TokenRule;
}

/** The tokens in force. Compared by digest and in constant time; the tokens themselves are not kept. */
export class TokenBook {
  readonly #entries: readonly Entry[];

  constructor(rules: readonly TokenRule[]) {
    this.#entries = rules.map((rule) => ({ digest: digestOf(rule.token), rule: { ...rule, token: '' } }));
  }

  /** Access of an `Authorization` header to an agent's session; nothing when there is none. */
  access(authorization: string | undefined, agentId: string): Access | undefined {
    const token = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) return undefined;
    const digest = digestOf(token);
    let found: TokenRule | undefined;
    for (const entry of this.#entries) if (timingSafeEqual(entry.digest, digest)) found = entry.rule;
    return found && matchesAny(found.agents, agentId) ? { capabilities: new Set(found.capabilities) } : undefined;
  }
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
