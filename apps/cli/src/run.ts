import { CommanderError } from 'commander';
import type { Io } from './commands/io.js';
import { CliError, EXIT } from './errors.js';
import { program } from './program.js';

/** Runs one command line; resolves to the exit code. What went wrong is one line on `err`. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  try {
    await program(io).parseAsync([...args], { from: 'user' });
  } catch (error) {
    if (io.signal.aborted) return EXIT.interrupted;
    // The parser has said what is wrong, or printed the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    io.err(`longrein: ${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof CliError ? error.exitCode : EXIT.failed;
  }
  return io.signal.aborted ? EXIT.interrupted : EXIT.ok;
}
