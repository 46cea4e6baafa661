export * from './nats-tool-catalog.js';
export * from './nats-tool-executor.js';
export * from './subjects.js';
