import { z } from 'zod';
import { type ModelsConfigInput, providerConfig } from './config.js';

/** Providers beyond the two that have variables of their own; a key may be named instead of written down. */
const extraProviders = z.record(
  z.string(),
  z.looseObject({ api_key_env: z.string().optional(), api_key: z.string().optional() }),
);

/**
 * Providers that an environment configures:
 *
 * - `anthropic`: `ANTHROPIC_API_KEY`, and `ANTHROPIC_BASE_URL` for another address.
 * - `openai`: `OPENAI_API_KEY`, or `OPENAI_BASE_URL` for any server that speaks its protocol, with or without key.
 * - more: `LONGREIN_PROVIDERS`, JSON by name, e.g.
 *   `{"openrouter": {"kind": "openai", "base_url": "https://openrouter.ai/api/v1", "api_key_env": "OPENROUTER_API_KEY"}}`.
 *
 * Throws an error that names the variable and never shows its value.
 */
export function providersFromEnv(env: Readonly<Record<string, string | undefined>>): ModelsConfigInput['providers'] {
  const set = (name: string): string | undefined => env[name]?.trim() || undefined;
  const providers: ModelsConfigInput['providers'] = {};
  const anthropicKey = set('ANTHROPIC_API_KEY');
  if (anthropicKey) {
    const base_url = set('ANTHROPIC_BASE_URL');
    const config = { kind: 'anthropic', api_key: anthropicKey, ...(base_url ? { base_url } : {}) };
    providers['anthropic'] = checked('ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL', config);
  }
  const [openAiKey, openAiUrl] = [set('OPENAI_API_KEY'), set('OPENAI_BASE_URL')];
  if (openAiKey || openAiUrl) {
    const config = {
      kind: 'openai',
      ...(openAiKey ? { api_key: openAiKey } : {}),
      ...(openAiUrl ? { base_url: openAiUrl } : {}),
    };
    providers['openai'] = checked('OPENAI_API_KEY, OPENAI_BASE_URL', config);
  }
  for (const [name, { api_key_env, ...config }] of Object.entries(extras(set('LONGREIN_PROVIDERS')))) {
    if (api_key_env !== undefined && !set(api_key_env)) {
      throw new Error(`LONGREIN_PROVIDERS: provider ${name} takes its key from ${api_key_env}, which is not set`);
    }
    const key = api_key_env === undefined ? {} : { api_key: set(api_key_env) };
    providers[name] = checked(`LONGREIN_PROVIDERS (${name})`, { ...config, ...key });
  }
  return providers;
}

function extras(text: string | undefined): z.infer<typeof extraProviders> {
  if (text === undefined) return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('LONGREIN_PROVIDERS is not JSON; write {"name": {"kind": "openai", "base_url": "…"}}');
  }
  const parsed = extraProviders.safeParse(value);
  if (!parsed.success) throw new Error(`LONGREIN_PROVIDERS: ${issues(parsed.error)}`);
  return parsed.data;
}

function checked(variables: string, config: unknown): z.infer<typeof providerConfig> {
  const parsed = providerConfig.safeParse(config);
  if (!parsed.success) throw new Error(`${variables}: ${issues(parsed.error)}`);
  return parsed.data;
}

/** Paths and rules of what is wrong, without the values: they may be keys. */
function issues(error: z.ZodError): string {
  return error.issues.map(({ path, message }) => `${path.join('.')} ${message}`.trim()).join('; ');
}
