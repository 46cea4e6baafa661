import { z } from 'zod';

/** What a token may be used for. */
export const capability = z.enum(['read', 'steer', 'approve', 'policy', 'model']);

export type Capability = z.infer<typeof capability>;

/** Bounds of what one token may do, on each replica of the gateway. Absent: none. */
export const tokenLimits = z.strictObject({
  /** Frames and requests a second, over all of the token's connections. */
  requests_per_s: z.number().positive().max(1_000_000).optional(),
  /** How many may come at once before the rate counts. Default: one second's worth. */
  burst: z.int().positive().max(1_000_000).optional(),
  /** Sessions that the token's connections may be at, at a time. */
  sessions: z.int().positive().max(1_000_000).optional(),
});

export type TokenLimits = z.infer<typeof tokenLimits>;

/** One token of the configuration. */
export const tokenRule = z.strictObject({
  token: z.string().min(8, 'must have at least 8 characters'),
  /** Whose it is: recorded with the verdicts it gives. */
  name: z.string().min(1).max(256).optional(),
  /** Patterns of the agent and session ids it is good for. */
  agents: z.array(z.string().min(1)).min(1).default(['*']),
  capabilities: z.array(capability).min(1).default(capability.options),
  limits: tokenLimits.default({}),
});

export const tokenRules = z.array(tokenRule).min(1, 'needs at least one token');

export type TokenRule = z.infer<typeof tokenRule>;

/** Reads token rules, or says in words what is wrong with them. */
export function parseTokenRules(text: string): { rules: TokenRule[] } | { problem: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { problem: 'is not JSON' };
  }
  const parsed = tokenRules.safeParse(value);
  if (parsed.success) return { rules: parsed.data };
  const [issue] = parsed.error.issues;
  return { problem: `${issue?.path.join('.') || 'tokens'}: ${issue?.message ?? 'not understood'}` };
}
