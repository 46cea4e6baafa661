export type { PriceList, TokenCounts } from './call/provider.js';
export type { RetryPolicy } from './call/retry.js';
export * from './errors.js';
export * from './port.js';
export {
  type AnthropicProviderConfig,
  type ModelsConfig,
  type ModelsConfigInput,
  type OpenAiProviderConfig,
  type ProviderConfig,
  modelsConfig,
  providerConfig,
} from './registry/config.js';
export { type ModelDeps, ProviderRegistry, createModels } from './registry/create-models.js';
export { providersFromEnv } from './registry/environment.js';
export { type ModelSpec, parseModelSpec } from './registry/model-spec.js';
