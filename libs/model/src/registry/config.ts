import { z } from 'zod';

/** A key, or none when it is blank. Trimmed: a newline at its end would show it in an error about bad headers. */
const key = z
  .string()
  .trim()
  .regex(/^[\x21-\x7e]+$/, 'must be visible ASCII characters');

const baseUrl = z
  .string()
  .trim()
  .refine((url) => ['http:', 'https:'].includes(parsed(url)?.protocol ?? ''), 'must be an http(s) URL')
  .refine((url) => !parsed(url)?.username && !parsed(url)?.password, 'must not hold credentials; use api_key');

const shared = {
  headers: z.record(z.string(), z.string()).optional(),
  /** More fields of every request's body. */
  extra: z.record(z.string(), z.unknown()).optional(),
};

const openAi = z.strictObject({
  kind: z.literal('openai'),
  api_key: key.optional(),
  /** With its version, e.g. `http://127.0.0.1:11434/v1`; OpenAI itself when absent. */
  base_url: baseUrl.optional(),
  /** `max_completion_tokens` at OpenAI itself, else `max_tokens`, unless set. */
  max_tokens_field: z.enum(['max_tokens', 'max_completion_tokens']).optional(),
  ...shared,
});

const anthropic = z.strictObject({
  kind: z.literal('anthropic'),
  api_key: key,
  /** Without a version, e.g. `http://127.0.0.1:8080`; Anthropic itself when absent. */
  base_url: baseUrl.optional(),
  /** Bound of an answer when a request sets none. */
  max_tokens: z.int().positive().optional(),
  prompt_cache: z.boolean().optional(),
  ...shared,
});

/** A provider as configured. */
export const providerConfig = z.discriminatedUnion('kind', [openAi, anthropic]);

const milliseconds = z.int().positive();

/** Everything the model registry can be told. */
export const modelsConfig = z.strictObject({
  /** By name, the part of `provider/model` before the first slash. */
  providers: z.record(z.string().regex(/^[A-Za-z0-9_-]+$/, 'must be letters, digits, _ or -'), providerConfig),
  retry: z
    .strictObject({
      max_attempts: z.int().positive().default(5),
      base_ms: milliseconds.default(500),
      max_delay_ms: milliseconds.default(30_000),
      max_total_ms: milliseconds.default(120_000),
    })
    .prefault({}),
  /** Milliseconds without anything from a provider after which a call is `stalled`. */
  stall_ms: milliseconds.default(120_000),
});

export type OpenAiProviderConfig = z.infer<typeof openAi>;
export type AnthropicProviderConfig = z.infer<typeof anthropic>;
export type ProviderConfig = z.infer<typeof providerConfig>;
export type ModelsConfig = z.infer<typeof modelsConfig>;

/** As written: what has a default may be left out. */
export type ModelsConfigInput = z.input<typeof modelsConfig>;

function parsed(url: string): URL | undefined {
  return URL.parse(url) ?? undefined;
}
