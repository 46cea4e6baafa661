import OpenAI, { APIConnectionError, APIError } from 'openai';
import { type ApiError, explain } from '../../call/explain.js';
import type { Provider, ProviderCall, ProviderDeps } from '../../call/provider.js';
import { redactor } from '../../call/secrets.js';
import { watchedFetch } from '../../call/watched-fetch.js';
import type { ModelError } from '../../errors.js';
import type { ModelDelta } from '../../port.js';
import { nameReader } from '../../render/tool-names.js';
import type { OpenAiProviderConfig } from '../../registry/config.js';
import { NO_SDK_TIMEOUT } from '../no-sdk-timeout.js';
import { readOpenAi } from './read.js';
import { renderOpenAi } from './render.js';

/** Base URL of OpenAI itself. */
const OPENAI = 'https://api.openai.com/v1';

/** Stands for the key of servers that want none. */
const NO_KEY = 'none';

/** Chat completions of OpenAI or of any server that speaks its protocol. */
export class OpenAiProvider implements Provider {
  readonly name: string;
  readonly #config: OpenAiProviderConfig;
  readonly #baseUrl: string;
  readonly #deps: ProviderDeps;
  readonly #redact: (text: string) => string;

  constructor(name: string, config: OpenAiProviderConfig, deps: ProviderDeps) {
    this.name = name;
    this.#config = config;
    this.#baseUrl = config.base_url ?? OPENAI;
    this.#deps = deps;
    this.#redact = redactor([config.api_key, ...Object.values(config.headers ?? {})]);
  }

  async *attempt({ request, model, signal, activity }: ProviderCall): AsyncGenerator<ModelDelta> {
    const body = renderOpenAi(request, {
      provider: this.name,
      model,
      maxTokensField: this.#config.max_tokens_field ?? this.#defaultMaxTokensField,
      extra: { ...this.#defaultExtra, ...this.#config.extra },
    });
    const chunks = await this.#client(activity).chat.completions.create(body, { signal });
    yield* readOpenAi(chunks, {
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
  #client(activity: () => void): OpenAI {
    return new OpenAI({
      apiKey: this.#config.api_key ?? NO_KEY,
      baseURL: this.#baseUrl,
      organization: null,
      project: null,
      maxRetries: 0,
      timeout: NO_SDK_TIMEOUT,
      logLevel: 'off',
      fetch: watchedFetch(activity),
      defaultHeaders: this.#config.headers ?? {},
    });
  }

  get #defaultMaxTokensField(): 'max_tokens' | 'max_completion_tokens' {
    return this.#baseUrl === OPENAI ? 'max_completion_tokens' : 'max_tokens';
  }

  /** OpenRouter reports a call's cost when asked. */
  get #defaultExtra(): Record<string, unknown> {
    return new URL(this.#baseUrl).hostname.endsWith('openrouter.ai') ? { usage: { include: true } } : {};
  }
}

const SDK = {
  isApi: (error: unknown): error is ApiError => error instanceof APIError,
  isConnection: (error: unknown) => error instanceof APIConnectionError,
};
