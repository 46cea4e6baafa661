export { MemoryDedupeStore, type DedupeStore, type StoredResult } from './dedupe.js';
export { serveTool, type ServedTool, type ServeToolOptions, type StopOptions } from './serve-tool.js';
export type { ArgumentsOf, JsonSchema } from './argument-reader.js';
export type { ToolContext } from './tool-runner.js';
