export * from './journal.js';
export * from './runner.js';
export * from './scripts.js';
export * from './traits.js';
