export * from './in-process-tools.js';
