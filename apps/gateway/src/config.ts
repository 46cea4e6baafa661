import {
  ConfigError,
  type PartitionedConfig,
  defineConfig,
  integer,
  list,
  milliseconds,
  secret,
  serviceConfig,
  serviceVariables,
} from '@longrein/service';
import { z } from 'zod';
import { type TokenRule, parseTokenRules } from './auth/token-rules.js';

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

/** Services behind some of the clients' frames, which a deployment may do without. */
const deployedService = z.enum(['approvals', 'policy', 'registry']);

export type DeployedService = z.infer<typeof deployedService>;

/** How tickets are made. */
export interface TicketConfig {
  /** What they are signed with, the same on every replica. Absent: a key that the replicas share through NATS. */
  readonly key?: string;
  readonly ttl_ms: number;
  /** Copies of the bucket that a shared key is kept in. */
  readonly replicas: number;
}

/** Configuration of the gateway. */
export interface GatewayConfig extends PartitionedConfig {
  /** In force as long as the process runs. */
  readonly tokens: readonly TokenRule[];
  /** Path of a file with more tokens, which may change. */
  readonly tokens_file?: string;
  readonly tickets: TicketConfig;
  /** Services that the deployment is known to have, of those it may do without. */
  readonly deployed: readonly DeployedService[];
  readonly socket: SocketLimits;
}

export const DEFAULT_SOCKET_LIMITS: SocketLimits = {
  replay_events: 10_000,
  concurrent_replays: 4,
  outbound_bytes: 4 * 1024 * 1024,
  ping_interval_ms: 20_000,
};

const tokens = z.string().transform((text, context): readonly TokenRule[] => {
  const parsed = parseTokenRules(text);
  if ('rules' in parsed) return parsed.rules;
  context.addIssue({ code: 'custom', message: parsed.problem });
  return z.NEVER;
});

const RULE = '{"token", "name"?, "agents"?: [patterns], "capabilities"?: [names], "limits"?}';

/** The gateway's environment. */
export const gatewayConfig = defineConfig(
  {
    ...serviceVariables({ port: 7423 }),
    LONGREIN_TOKENS: secret(tokens.optional().describe(`a JSON array of ${RULE}`)),
    LONGREIN_TOKENS_FILE: z
      .string()
      .optional()
      .describe(`the path of a file with a JSON array of ${RULE}, which is read again when it changes`),
    LONGREIN_TICKET_KEY: secret(
      z
        .string()
        .min(32, 'must have at least 32 characters')
        .optional()
        .describe('at least 32 random characters, the same on every replica; unset: a key shared through NATS'),
    ),
    LONGREIN_TICKET_TTL_MS: milliseconds().default(30_000).describe('milliseconds that a ticket is good for'),
    LONGREIN_DEPLOYED: list()
      .pipe(z.array(deployedService))
      .default([])
      .describe(`which of ${deployedService.options.join(', ')} are deployed, so that their silence is an outage`),
    LONGREIN_STREAM_REPLICAS: integer({ min: 1, max: 5 })
      .default(1)
      .describe('copies of every bucket: 1, or 3 in production'),
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
    ...tokensOf(values.LONGREIN_TOKENS, values.LONGREIN_TOKENS_FILE),
    tickets: {
      ...(values.LONGREIN_TICKET_KEY !== undefined && { key: values.LONGREIN_TICKET_KEY }),
      ttl_ms: values.LONGREIN_TICKET_TTL_MS,
      replicas: values.LONGREIN_STREAM_REPLICAS,
    },
    deployed: values.LONGREIN_DEPLOYED,
    socket: {
      replay_events: values.LONGREIN_REPLAY_LIMIT,
      concurrent_replays: values.LONGREIN_CONCURRENT_REPLAYS,
      outbound_bytes: values.LONGREIN_OUTBOUND_BYTES,
      ping_interval_ms: values.LONGREIN_PING_INTERVAL_MS,
    },
  }),
);

function tokensOf(
  fixed: readonly TokenRule[] | undefined,
  file: string | undefined,
): Pick<GatewayConfig, 'tokens' | 'tokens_file'> {
  if (fixed || file !== undefined) return { tokens: fixed ?? [], ...(file !== undefined && { tokens_file: file }) };
  throw new ConfigError([`LONGREIN_TOKENS and LONGREIN_TOKENS_FILE are missing; set one to a JSON array of ${RULE}`]);
}
