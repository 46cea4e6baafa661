export { type AppendAttempt, type AppendFault, type Faults } from './faults.js';
export * from './memory-document-store.js';
export { type MemoryLogOptions, MemoryLog } from './memory-log.js';
