import {
  defineConfig,
  integer,
  type PartitionedConfig,
  secret,
  serviceConfig,
  serviceVariables,
} from '@longrein/service';
import { z } from 'zod';

/** Agents that may be live at the same time unless configured otherwise. */
export const DEFAULT_MAX_AGENTS = 128;

/** Configuration of the registry. */
export interface RegistryConfig extends PartitionedConfig {
  /** Agents that may be live at the same time, all replicas together. A function is asked at every spawn. */
  readonly max_agents: number | (() => number);
  /** Bearer token of the commands over HTTP. Absent: they are not served there, only over NATS. */
  readonly operator_token?: string;
}

/** The registry's environment. */
export const registryConfig = defineConfig(
  {
    ...serviceVariables({ port: 7422 }),
    LONGREIN_MAX_AGENTS: integer({ min: 1, max: 1_000_000 })
      .default(DEFAULT_MAX_AGENTS)
      .describe('how many agents may be live at the same time'),
    LONGREIN_OPERATOR_TOKEN: secret(
      z
        .string()
        .min(16, 'must have at least 16 characters')
        .optional()
        .describe('a secret of at least 16 characters, to take commands over HTTP from whoever presents it'),
    ),
  },
  (values): RegistryConfig => ({
    ...serviceConfig(values),
    max_agents: values.LONGREIN_MAX_AGENTS,
    ...(values.LONGREIN_OPERATOR_TOKEN !== undefined && { operator_token: values.LONGREIN_OPERATOR_TOKEN }),
  }),
);
