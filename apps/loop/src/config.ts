import { type ScrubRule, ScrubRuleError, Scrubber } from '@longrein/log';
import { type ModelsConfigInput, providersFromEnv } from '@longrein/model';
import {
  ConfigError,
  type ConfigDefinition,
  type PartitionedConfig,
  defineConfig,
  flag,
  integer,
  list,
  milliseconds,
  secret,
  serviceConfig,
  serviceVariables,
} from '@longrein/service';
import { z } from 'zod';

/** Configuration of the loop. */
export interface LoopConfig extends PartitionedConfig {
  /** `provider/model` of the role `main` where neither session nor agent names one. */
  readonly model?: string;
  /** Providers by name. */
  readonly providers: ModelsConfigInput['providers'];
  /** Policy floor; absent: every registered tool is allowed. */
  readonly policy?: readonly string[];
  /** The rules that the log service scrubs by. */
  readonly scrub: readonly ScrubRule[];
  /** When an open turn that its owner left is taken up. */
  readonly resume: 'on_takeover' | 'on_stimulus';
  /** Whether gated calls are asked about. */
  readonly approvals: boolean;
  /** How long a partition's lease outlives its last renewal. */
  readonly lease_ttl_ms: number;
  /** How long a stopping loop waits for its turns to reach a step boundary. */
  readonly drain_ms: number;
  /** Copies of the buckets it makes. */
  readonly replicas: number;
}

const rules = z.string().transform((text, context): readonly ScrubRule[] => {
  try {
    const parsed = JSON.parse(text) as readonly ScrubRule[];
    new Scrubber(parsed);
    return parsed;
  } catch (error) {
    const problem = error instanceof ScrubRuleError || error instanceof SyntaxError ? error.message : 'not an array';
    context.addIssue({ code: 'custom', message: problem });
    return z.NEVER;
  }
});

const optional = (what: string) => z.string().optional().describe(what);

const variables = defineConfig(
  {
    ...serviceVariables({ port: 7421 }),
    LONGREIN_MODEL: z
      .string()
      .regex(/^[A-Za-z0-9_-]+\/\S+$/, 'must be provider/model')
      .optional()
      .describe('provider/model, e.g. anthropic/claude-sonnet-5-5'),
    ANTHROPIC_API_KEY: secret(optional('an Anthropic API key')),
    ANTHROPIC_BASE_URL: optional('the address of a server that speaks the Anthropic protocol'),
    OPENAI_API_KEY: secret(optional('an OpenAI API key')),
    OPENAI_BASE_URL: optional('the address of a server that speaks the OpenAI protocol, with its version'),
    LONGREIN_PROVIDERS: secret(optional('more providers as JSON by name, each {"kind": "openai" | "anthropic", ...}')),
    LONGREIN_POLICY: list().optional().describe('tool patterns that sessions without a policy may call, e.g. *'),
    LONGREIN_SCRUB: rules
      .default([])
      .describe('the log service’s own JSON array of {"pattern": ...} or {"literal": ...}, word for word'),
    LONGREIN_RESUME: z
      .enum(['on_takeover', 'on_stimulus'])
      .default('on_takeover')
      .describe('on_takeover or on_stimulus'),
    LONGREIN_APPROVALS: flag().default(true).describe('whether calls that need an approval are asked about'),
    LONGREIN_LEASE_TTL_MS: integer({ min: 1000, max: 600_000 })
      .default(6000)
      .describe('milliseconds a partition lease outlives its last renewal, at least 1000'),
    LONGREIN_DRAIN_MS: milliseconds().default(20_000).describe('milliseconds a stopping loop waits for running steps'),
    LONGREIN_STREAM_REPLICAS: integer({ min: 1, max: 5 })
      .default(1)
      .describe('copies of every bucket: 1, or 3 in production'),
  },
  (values): Omit<LoopConfig, 'providers'> => ({
    ...serviceConfig(values),
    ...(values.LONGREIN_MODEL !== undefined && { model: values.LONGREIN_MODEL }),
    ...(values.LONGREIN_POLICY !== undefined && { policy: values.LONGREIN_POLICY }),
    scrub: values.LONGREIN_SCRUB,
    resume: values.LONGREIN_RESUME,
    approvals: values.LONGREIN_APPROVALS,
    lease_ttl_ms: values.LONGREIN_LEASE_TTL_MS,
    drain_ms: values.LONGREIN_DRAIN_MS,
    replicas: values.LONGREIN_STREAM_REPLICAS,
  }),
);

/** The loop's environment. Providers may take their keys from variables that only the environment itself names. */
export const loopConfig: ConfigDefinition<LoopConfig> = {
  variables: variables.variables,
  parse: (env) => {
    const config = variables.parse(env);
    try {
      return { ...config, providers: providersFromEnv(env) };
    } catch (error) {
      throw new ConfigError([error instanceof Error ? error.message : String(error)]);
    }
  },
};
