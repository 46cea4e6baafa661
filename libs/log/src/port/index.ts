export * from './checkpoint-error.js';
export * from './checkpoint-store.js';
export * from './errors.js';
export * from './event-log.js';
export * from './leases.js';
