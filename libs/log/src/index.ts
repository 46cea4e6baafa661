export * from './core/limits.js';
export * from './core/scrub-rules.js';
export * from './core/scrubber.js';
export * from './core/storable.js';
export * from './core/timestamp.js';
export * from './port/index.js';
export { SessionStates } from './states/session-states.js';
