import { defineConfig, integer, type PartitionedConfig, serviceConfig, serviceVariables } from '@longrein/service';

/** Agents that may be live at the same time unless configured otherwise. */
export const DEFAULT_MAX_AGENTS = 128;

/** Configuration of the registry. */
export interface RegistryConfig extends PartitionedConfig {
  /** Agents that may be live at the same time, all replicas together. A function is asked at every spawn. */
  readonly max_agents: number | (() => number);
}

/** The registry's environment. */
export const registryConfig = defineConfig(
  {
    ...serviceVariables({ port: 7422 }),
    LONGREIN_MAX_AGENTS: integer({ min: 1, max: 1_000_000 })
      .default(DEFAULT_MAX_AGENTS)
      .describe('how many agents may be live at the same time'),
  },
  (values): RegistryConfig => ({ ...serviceConfig(values), max_agents: values.LONGREIN_MAX_AGENTS }),
);
