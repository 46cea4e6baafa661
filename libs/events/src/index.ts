export * from './envelope.js';
export * from './partition.js';
export * from './session-id.js';
export * from './subjects.js';
export * from './vocabulary/index.js';
