export * from './grouping.js';
export * from './hooks.js';
export * from './run-group.js';
