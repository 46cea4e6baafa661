export { failure, type ExecutorOptions, type ToolReport } from './core/index.js';
export * from './memory/index.js';
export * from './nats/index.js';
export * from './pipeline/index.js';
export * from './port/index.js';
