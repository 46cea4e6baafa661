import { existsSync, rmSync } from 'node:fs';

/** What must not outlive this process: children by pid, and directories. */
const children = new Set<number>();
const directories = new Set<string>();
let hooked = false;

/** Kills `pid` when this process exits; returns a function that lifts the order. */
export function killOnExit(pid: number): () => void {
  hook();
  children.add(pid);
  return () => children.delete(pid);
}

/** Removes `directory` when this process exits; returns a function that lifts the order. */
export function removeOnExit(directory: string): () => void {
  hook();
  directories.add(directory);
  return () => directories.delete(directory);
}

/**
 * The command that runs `binary` so that the kernel kills it when this process dies, even by SIGKILL, which no exit hook
 * survives. Where the system has no such tool, the exit hook alone remains.
 */
export function boundToParent(binary: string, args: readonly string[]): [string, string[]] {
  const setpriv =
    process.platform === 'linux' ? ['/usr/bin/setpriv', '/bin/setpriv'].find((path) => existsSync(path)) : undefined;
  return setpriv ? [setpriv, ['--pdeathsig', 'KILL', binary, ...args]] : [binary, [...args]];
}

function hook(): void {
  if (hooked) return;
  hooked = true;
  process.on('exit', () => {
    for (const pid of children) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It is gone already, which is what was wanted.
      }
    }
    for (const directory of directories) rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
  });
}
