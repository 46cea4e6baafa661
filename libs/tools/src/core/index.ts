export * from './arguments.js';
export * from './catalog-executor.js';
export * from './json.js';
export * from './outcome.js';
export * from './registration.js';
export * from './storable.js';
export * from './tool-registry.js';
