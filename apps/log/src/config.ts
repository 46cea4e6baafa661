import { type ScrubRule, scrubRules } from '@longrein/log';
import { type PartitionedConfig, defineConfig, integer, serviceConfig, serviceVariables } from '@longrein/service';
import { z } from 'zod';

/** Configuration of the log service. */
export interface LogConfig extends PartitionedConfig {
  /** Copies of every stream. */
  readonly stream_replicas: number;
  /** Byte limit of each partition's stream; absent: none. */
  readonly stream_max_bytes?: number;
  /** How long a partition's lease outlives its last renewal. */
  readonly lease_ttl_ms: number;
  /** What is rewritten in content before it is stored. */
  readonly scrub: readonly ScrubRule[];
  /** Refuse servers and settings that are fit for development only. */
  readonly production: boolean;
}

/** The log service's environment. */
export const logConfig = defineConfig(
  {
    ...serviceVariables({ port: 7420 }),
    LONGREIN_STREAM_REPLICAS: integer({ min: 1, max: 5 })
      .default(1)
      .describe('copies of every stream: 1, or 3 in production'),
    LONGREIN_STREAM_MAX_BYTES: integer({ min: 1024 * 1024, max: 2 ** 48 })
      .optional()
      .describe("the byte limit of each partition's stream, at least 1048576"),
    LONGREIN_LEASE_TTL_MS: integer({ min: 1000, max: 600_000 })
      .default(6000)
      .describe('milliseconds a partition lease outlives its last renewal, at least 1000'),
    LONGREIN_SCRUB: scrubRules
      .default([])
      .describe('a JSON array of {"pattern": ...} or {"literal": ...}, each with an optional "replacement"'),
    LONGREIN_ENV: z.enum(['development', 'production']).default('development').describe('development or production'),
  },
  (values): LogConfig => ({
    ...serviceConfig(values),
    stream_replicas: values.LONGREIN_STREAM_REPLICAS,
    ...(values.LONGREIN_STREAM_MAX_BYTES !== undefined && { stream_max_bytes: values.LONGREIN_STREAM_MAX_BYTES }),
    lease_ttl_ms: values.LONGREIN_LEASE_TTL_MS,
    scrub: values.LONGREIN_SCRUB,
    production: values.LONGREIN_ENV === 'production',
  }),
);
