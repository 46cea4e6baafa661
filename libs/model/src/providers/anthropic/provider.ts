import Anthropic, { APIConnectionError, APIError } from '@anthropic-ai/sdk';
import { type ApiError, explain } from '../../call/explain.js';
import type { Provider, ProviderCall, ProviderDeps } from '../../call/provider.js';
import { redactor } from '../../call/secrets.js';
import { watchedFetch } from '../../call/watched-fetch.js';
import type { ModelError } from '../../errors.js';
import type { ModelDelta } from '../../port.js';
import { nameReader } from '../../render/tool-names.js';
import type { AnthropicProviderConfig } from '../../registry/config.js';
import { NO_SDK_TIMEOUT } from '../no-sdk-timeout.js';
import { readAnthropic } from './read.js';
import { renderAnthropic } from './render.js';

const ANTHROPIC = 'https://api.anthropic.com';

/** Bound of an answer that every current model accepts. */
const MAX_TOKENS = 8192;

/** Anthropic's messages. */
export class AnthropicProvider implements Provider {
  readonly name: string;
  readonly #config: AnthropicProviderConfig;
  readonly #deps: ProviderDeps;
  readonly #redact: (text: string) => string;

  constructor(name: string, config: AnthropicProviderConfig, deps: ProviderDeps) {
    this.name = name;
    this.#config = config;
    this.#deps = deps;
    this.#redact = redactor([config.api_key, ...Object.values(config.headers ?? {})]);
  }

  async *attempt({ request, model, signal, activity }: ProviderCall): AsyncGenerator<ModelDelta> {
    const body = renderAnthropic(request, {
      provider: this.name,
      model,
      maxTokens: this.#config.max_tokens ?? MAX_TOKENS,
      promptCache: this.#config.prompt_cache ?? true,
      extra: this.#config.extra ?? {},
    });
    const events = await this.#client(activity).messages.create(body, { signal });
    yield* readAnthropic(events, {
      provider: this.name,
      model,
      toolName: nameReader(request.tools),
      prices: this.#deps.prices,
    });
  }

  explain(error: unknown): ModelError {
    return explain(error, SDK, { provider: this.name, redact: this.#redact, now: this.#deps.now });
  }

  /** Every option is set, so that nothing of the environment gets into requests unseen. */
  #client(activity: () => void): Anthropic {
    return new Anthropic({
      apiKey: this.#config.api_key,
      authToken: null,
      baseURL: this.#config.base_url ?? ANTHROPIC,
      webhookKey: null,
      maxRetries: 0,
      timeout: NO_SDK_TIMEOUT,
      logLevel: 'off',
      openTelemetry: false,
      fetch: watchedFetch(activity),
      defaultHeaders: this.#config.headers ?? {},
    });
  }
}

const SDK = {
  isApi: (error: unknown): error is ApiError => error instanceof APIError,
  isConnection: (error: unknown) => error instanceof APIConnectionError,
};
