export { CliError, EXIT, type ExitCode } from './errors.js';
export type { Io } from './commands/io.js';
export { run } from './run.js';
