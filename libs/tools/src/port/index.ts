export * from './catalog.js';
export * from './definition.js';
export * from './executor.js';
