import { execFile } from 'node:child_process';

/** How a command ended. */
export interface CommandResult {
  readonly code: number;
  readonly output: string;
}

/** The machine as an installer sees it; tests give another one. */
export interface Host {
  readonly platform: NodeJS.Platform;
  readonly arch: string;
  readonly isRoot: boolean;
  /** Runs a command to its end. A command that does not exist gives code 127. */
  run(command: string, args: readonly string[], env?: NodeJS.ProcessEnv): Promise<CommandResult>;
  /** Tells the user what is going on: an installation takes a minute. */
  say(line: string): void;
}

const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

/** The machine this process runs on. */
export const thisHost: Host = {
  platform: process.platform,
  arch: process.arch,
  isRoot: process.getuid?.() === 0,
  run: (command, args, env) =>
    new Promise((resolve) => {
      const options = { env: { ...process.env, ...env }, maxBuffer: MAX_OUTPUT_BYTES, encoding: 'utf8' as const };
      const child = execFile(command, args, options, (error, stdout, stderr) => {
        const code =
          error === null ? 0 : typeof error.code === 'number' ? error.code : error.code === 'ENOENT' ? 127 : 1;
        resolve({ code, output: `${stdout}${stderr}` });
      });
      // An installer that asks a question gets an end of file, not a wait for ever.
      child.stdin?.end();
    }),
  say: (line) => void process.stderr.write(`${line}\n`),
};

/** The last lines of a command's output, for an error message. */
export function lastLines(output: string, count = 3): string {
  return output.trim().split('\n').slice(-count).join(' | ');
}
