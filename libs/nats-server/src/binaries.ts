import { execFileSync } from 'node:child_process';
import { accessSync, constants, readdirSync, realpathSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { BINARY_NAME, cacheDirectory } from './project.js';
import { compareVersions, OLDEST_VERSION, parseVersion } from './version.js';

/** A server binary on this machine. */
export interface NatsServerBinary {
  readonly path: string;
  readonly version: string;
  /** Where it was found: on `PATH`, in the project's cache, in a usual directory off `PATH`, or named by hand. */
  readonly source: 'path' | 'cache' | 'system' | 'given';
}

/** Where a search for binaries looks; every field has the machine's own value as default. */
export interface SearchPlaces {
  readonly env?: NodeJS.ProcessEnv;
  readonly cache?: string;
  readonly systemDirectories?: readonly string[];
}

/** Directories a package manager uses that an ordinary user's PATH may lack. */
const SYSTEM_DIRECTORIES = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/opt/homebrew/bin'];

/** Asks the binary at `path` for its version, or `undefined` when it cannot run or is not a NATS server. */
export function inspectBinary(path: string, source: NatsServerBinary['source']): NatsServerBinary | undefined {
  try {
    accessSync(path, constants.X_OK);
    if (!statSync(path).isFile()) return undefined;
    const output = execFileSync(path, ['--version'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 10_000,
    });
    const version = output.includes('nats-server') ? parseVersion(output) : undefined;
    return version === undefined ? undefined : { path, version, source };
  } catch {
    return undefined;
  }
}

/** The first usable server on `PATH`. */
export function findOnPath(env: NodeJS.ProcessEnv = process.env): NatsServerBinary | undefined {
  return first(pathDirectories(env), 'path');
}

/** The newest server in the project's cache. */
export function findInCache(cache: string = cacheDirectory()): NatsServerBinary | undefined {
  return first(cacheEntries(cache), 'cache');
}

/** Every usable server at hand, newest first, one per version; servers older than the system supports are left out. */
export function findAll(places: SearchPlaces = {}): NatsServerBinary[] {
  const candidates: [string, NatsServerBinary['source']][] = [
    ...pathDirectories(places.env ?? process.env).map((d) => [d, 'path'] as [string, 'path']),
    ...cacheEntries(places.cache ?? cacheDirectory()).map((d) => [d, 'cache'] as [string, 'cache']),
    ...(places.systemDirectories ?? SYSTEM_DIRECTORIES).map((d) => [d, 'system'] as [string, 'system']),
  ];
  const seen = new Set<string>();
  const byVersion = new Map<string, NatsServerBinary>();
  for (const [directory, source] of candidates) {
    const path = join(directory, BINARY_NAME);
    const real = realPath(path);
    if (real === undefined || seen.has(real)) continue;
    seen.add(real);
    const binary = inspectBinary(path, source);
    if (binary && supported(binary) && !byVersion.has(binary.version)) byVersion.set(binary.version, binary);
  }
  return [...byVersion.values()].sort((a, b) => compareVersions(b.version, a.version));
}

/** Whether the system runs on this server. */
export function supported(binary: NatsServerBinary): boolean {
  return compareVersions(binary.version, OLDEST_VERSION) >= 0;
}

function first(directories: readonly string[], source: NatsServerBinary['source']): NatsServerBinary | undefined {
  for (const directory of directories) {
    const binary = inspectBinary(join(directory, BINARY_NAME), source);
    if (binary && supported(binary)) return binary;
  }
  return undefined;
}

function pathDirectories(env: NodeJS.ProcessEnv): string[] {
  return (env['PATH'] ?? '').split(delimiter).filter((directory) => directory !== '');
}

function cacheEntries(cache: string): string[] {
  try {
    return readdirSync(cache)
      .filter((name) => parseVersion(name) === name)
      .sort((a, b) => compareVersions(b, a))
      .map((name) => join(cache, name));
  } catch {
    return [];
  }
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
