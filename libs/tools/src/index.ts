export {
  CatalogExecutor,
  DEFAULT_MAX_RESULT_BYTES,
  MAX_TOOLSET_BYTES,
  ToolFailure,
  ToolRegistry,
  failure,
  type ExecutorOptions,
  type ToolReport,
  type ToolTransport,
} from './core/index.js';
export * from './memory/index.js';
export * from './nats/index.js';
export * from './pipeline/index.js';
export * from './port/index.js';
