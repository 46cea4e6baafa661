export * from './boundary.js';
export * from './decide-append.js';
export * from './limits.js';
export * from './scrubber.js';
export * from './session-head.js';
export * from './session-window.js';
export * from './storable.js';
export * from './timestamp.js';
