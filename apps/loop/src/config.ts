import { type ScrubRule, scrubRules } from '@longrein/log';
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
import type { BudgetLimits } from '@longrein/session';
import { z } from 'zod';
import type { NatsHookOptions } from './hooks/nats-hooks.js';

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
  /** Where the deployment's hooks are mounted. */
  readonly hooks: NatsHookOptions;
  /** Budget of sessions whose agent names none. */
  readonly limits: BudgetLimits;
  /** How long a partition's lease outlives its last renewal. */
  readonly lease_ttl_ms: number;
  /** How long a stopping loop waits for its turns to reach a step boundary. */
  readonly drain_ms: number;
  /** Copies of the buckets it makes. */
  readonly replicas: number;
}

const optional = (what: string) => z.string().optional().describe(what);

const subject = (what: string) =>
  z
    .string()
    .regex(/^[^\s.*>]+(\.[^\s.*>]+)*$/, 'must be a NATS subject without wildcards')
    .optional()
    .describe(what);

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
    LONGREIN_SCRUB: scrubRules
      .default([])
      .describe('the log service’s own JSON array of {"pattern": ...} or {"literal": ...}, word for word'),
    LONGREIN_RESUME: z
      .enum(['on_takeover', 'on_stimulus'])
      .default('on_takeover')
      .describe('on_takeover or on_stimulus'),
    LONGREIN_APPROVALS: flag().default(true).describe('whether calls that need an approval are asked about'),
    LONGREIN_HOOK_PRE_STEP: subject(
      'the NATS subject of a hook that may rewrite or reject what a step is about to log',
    ),
    LONGREIN_HOOK_REQUEST: subject('the NATS subject of a hook that sets temperature and max_tokens of a step'),
    LONGREIN_HOOK_TIMEOUT_MS: milliseconds().default(5_000).describe('milliseconds a hook may take to answer'),
    LONGREIN_HOOK_SILENCE: z
      .enum(['wait', 'continue'])
      .default('wait')
      .describe('wait or continue: what a step does while a hook does not answer'),
    LONGREIN_SESSION_MAX_COST: z.coerce
      .number('must be a number')
      .positive('must be more than 0')
      .optional()
      .describe('US dollars that a session may spend in all, unless its agent says otherwise'),
    LONGREIN_SESSION_MAX_TOKENS: integer({ min: 1, max: Number.MAX_SAFE_INTEGER })
      .optional()
      .describe('tokens that a session may use in all, unless its agent says otherwise'),
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
    hooks: {
      pre_step: values.LONGREIN_HOOK_PRE_STEP,
      request: values.LONGREIN_HOOK_REQUEST,
      timeout_ms: values.LONGREIN_HOOK_TIMEOUT_MS,
      silence: values.LONGREIN_HOOK_SILENCE,
    },
    limits: {
      ...(values.LONGREIN_SESSION_MAX_COST !== undefined && { cost: values.LONGREIN_SESSION_MAX_COST }),
      ...(values.LONGREIN_SESSION_MAX_TOKENS !== undefined && { tokens: values.LONGREIN_SESSION_MAX_TOKENS }),
    },
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
