export * from './kv-leases.js';
export * from './log-server.js';
export * from './names.js';
export * from './pipeline.js';
export * from './provision.js';
export * from './sole-leases.js';
export * from './stream-api.js';
export type { Outgoing, WriteMode } from './stream-writer.js';
export { scan, streamSequence } from './stream-scan.js';
