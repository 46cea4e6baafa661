import { type Clock, systemClock } from '@longrein/clock';
import { attempt } from '../call/attempt.js';
import type { PriceList, Provider, ProviderDeps } from '../call/provider.js';
import { retrying, type RetryOptions } from '../call/retry.js';
import { ModelError } from '../errors.js';
import type { ModelDelta, ModelPort, ModelRequest, StreamOptions } from '../port.js';
import { AnthropicProvider } from '../providers/anthropic/provider.js';
import { OpenAiProvider } from '../providers/openai/provider.js';
import { type ModelsConfig, type ModelsConfigInput, type ProviderConfig, modelsConfig } from './config.js';
import { parseModelSpec } from './model-spec.js';

/** What models depend on besides their configuration. */
export interface ModelDeps {
  readonly clock?: Clock;
  /** Uniform in [0, 1). */
  readonly random?: () => number;
  /** Prices by `provider/model`, for providers that report no cost. */
  readonly prices?: PriceList;
  /** Told of every failed attempt that is followed by another, for logs and metrics. */
  readonly onRetry?: RetryOptions['onRetry'];
}

/** The providers of a deployment behind one port. */
export class ProviderRegistry implements ModelPort {
  readonly #config: ModelsConfig;
  readonly #deps: ModelDeps & { readonly clock: Clock };
  readonly #providers: ReadonlyMap<string, Provider>;

  constructor(config: ModelsConfig, deps: ModelDeps = {}) {
    this.#config = config;
    this.#deps = { clock: systemClock, ...deps };
    this.#providers = new Map(
      Object.entries(config.providers).map(([name, provider]) => [
        name,
        createProvider(name, provider, this.#depsOf(name)),
      ]),
    );
  }

  /** Names of the configured providers. */
  get names(): readonly string[] {
    return [...this.#providers.keys()];
  }

  /** Throws `invalid_model` or `unknown_provider` unless a request for this model could be sent. */
  check(model: string): void {
    this.#resolve(model);
  }

  async *stream(request: ModelRequest, { signal }: StreamOptions): AsyncGenerator<ModelDelta> {
    const { provider, model } = this.#resolve(request.model);
    const { clock } = this.#deps;
    const stallMs = this.#config.stall_ms;
    yield* retrying(() => attempt(provider, { request, model, signal, clock, stallMs }), {
      policy: this.#config.retry,
      clock,
      random: this.#deps.random ?? Math.random,
      signal,
      model: request.model,
      onRetry: this.#deps.onRetry,
    });
  }

  #depsOf(name: string): ProviderDeps {
    const { clock, prices } = this.#deps;
    return {
      now: () => clock.now(),
      prices: prices && ((model, usage) => prices(`${name}/${model}`, usage)),
    };
  }

  #resolve(spec: string): { provider: Provider; model: string } {
    const { provider: name, model } = parseModelSpec(spec);
    const provider = this.#providers.get(name);
    if (provider) return { provider, model };
    const known = this.names.length > 0 ? `configured: ${this.names.join(', ')}` : 'none is configured';
    throw new ModelError('unknown_provider', `no provider is named ${name} (${known})`, false, {
      provider: name,
      model: spec,
    });
  }
}

/** Makes the model port of a deployment. Throws a zod error when the configuration is wrong. */
export function createModels(config: ModelsConfigInput, deps: ModelDeps = {}): ProviderRegistry {
  return new ProviderRegistry(modelsConfig.parse(config), deps);
}

function createProvider(name: string, config: ProviderConfig, deps: ProviderDeps): Provider {
  switch (config.kind) {
    case 'openai':
      return new OpenAiProvider(name, config, deps);
    case 'anthropic':
      return new AnthropicProvider(name, config, deps);
  }
}
