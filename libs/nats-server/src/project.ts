import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The repository's root: the nearest directory at or above `from` that holds `nx.json`, else `from` itself. */
export function projectRoot(from: string = process.cwd()): string {
  for (let directory = from; ; directory = dirname(directory)) {
    if (existsSync(join(directory, 'nx.json'))) return directory;
    if (directory === dirname(directory)) return from;
  }
}

/** Where the project keeps the servers it installed, one directory a version. */
export function cacheDirectory(root: string = projectRoot()): string {
  return join(root, '.cache', 'nats-server');
}

/** File name of the server's binary on this platform. */
export const BINARY_NAME = process.platform === 'win32' ? 'nats-server.exe' : 'nats-server';

/** Path of the cached binary of `version`. */
export function cachedBinary(version: string, cache: string = cacheDirectory()): string {
  return join(cache, version, BINARY_NAME);
}
