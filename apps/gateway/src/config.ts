import {
  type PartitionedConfig,
  defineConfig,
  integer,
  secret,
  serviceConfig,
  serviceVariables,
} from '@longrein/service';
import { z } from 'zod';
import { type TokenRule, tokenRules } from './auth/token-book.js';

/** Bounds of the agent socket; `socket-protocol` documents each. */
export interface SocketLimits {
  /** Newest events a subscribe replays. */
  readonly replay_events: number;
  /** History reads at a time, over all connections of the process. */
  readonly concurrent_replays: number;
  /** Bytes that may wait for a slow reader on the live tail before it is dropped as `lagged`. */
  readonly outbound_bytes: number;
  readonly ping_interval_ms: number;
}

/** Configuration of the gateway. */
export interface GatewayConfig extends PartitionedConfig {
  readonly tokens: readonly TokenRule[];
  readonly socket: SocketLimits;
}

export const DEFAULT_SOCKET_LIMITS: SocketLimits = {
  replay_events: 10_000,
  concurrent_replays: 4,
  outbound_bytes: 4 * 1024 * 1024,
  ping_interval_ms: 20_000,
};

const tokens = z.string().transform((text, context): TokenRule[] => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    context.addIssue({ code: 'custom', message: 'is not JSON' });
    return z.NEVER;
  }
  const parsed = tokenRules.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  context.addIssue({ code: 'custom', message: `${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}` });
  return z.NEVER;
});

/** The gateway's environment. */
export const gatewayConfig = defineConfig(
  {
    ...serviceVariables({ port: 7423 }),
    LONGREIN_TOKENS: secret(
      tokens.describe('a JSON array of {"token", "agents"?: [patterns], "capabilities"?: [names]}, at least one'),
    ),
    LONGREIN_REPLAY_LIMIT: integer({ min: 1, max: 1_000_000 })
      .default(DEFAULT_SOCKET_LIMITS.replay_events)
      .describe('the most events one subscribe replays'),
    LONGREIN_CONCURRENT_REPLAYS: integer({ min: 1, max: 1_000 })
      .default(DEFAULT_SOCKET_LIMITS.concurrent_replays)
      .describe('history reads at a time in this process'),
    LONGREIN_OUTBOUND_BYTES: integer({ min: 65_536, max: 1_073_741_824 })
      .default(DEFAULT_SOCKET_LIMITS.outbound_bytes)
      .describe('bytes that may wait for a slow reader before it is dropped'),
    LONGREIN_PING_INTERVAL_MS: integer({ min: 100, max: 3_600_000 })
      .default(DEFAULT_SOCKET_LIMITS.ping_interval_ms)
      .describe('milliseconds between pings'),
  },
  (values): GatewayConfig => ({
    ...serviceConfig(values),
    tokens: values.LONGREIN_TOKENS,
    socket: {
      replay_events: values.LONGREIN_REPLAY_LIMIT,
      concurrent_replays: values.LONGREIN_CONCURRENT_REPLAYS,
      outbound_bytes: values.LONGREIN_OUTBOUND_BYTES,
      ping_interval_ms: values.LONGREIN_PING_INTERVAL_MS,
    },
  }),
);
