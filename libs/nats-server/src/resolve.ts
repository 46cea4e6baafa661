import { findInCache, findOnPath, inspectBinary, type NatsServerBinary } from './binaries.js';
import { NatsServerMissingError } from './errors.js';
import { installFromArchive } from './install/archive.js';
import type { Attempt } from './install/attempt.js';
import { installWithGo } from './install/go.js';
import { type Host, thisHost } from './install/host.js';
import { installWithPackageManager } from './install/package-manager.js';
import { cacheDirectory } from './project.js';
import { CURRENT_VERSION, OLDEST_VERSION } from './version.js';

/** Where to look and how to install; every field has the machine's own as default. */
export interface ResolveOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly cache?: string;
  /** Ways to install, tried in order. */
  readonly installers?: readonly Installer[];
}

/** One way to install a server. */
export interface Installer {
  readonly name: string;
  install(cache: string): Promise<Attempt>;
}

/** The ways to install, best first: a current release where it can be built, else what the system offers, else a download. */
export function installers(host: Host = thisHost): Installer[] {
  return [
    { name: 'Go toolchain', install: (cache) => installWithGo(host, cache) },
    { name: 'package manager', install: () => installWithPackageManager(host) },
    { name: 'official archive', install: (cache) => installFromArchive(host, cache) },
  ];
}

/** A server binary: the one on PATH, else the one in the project's cache, else one that is installed now. */
export async function resolveNatsServer(options: ResolveOptions = {}): Promise<NatsServerBinary> {
  const cache = options.cache ?? cacheDirectory();
  return (
    findOnPath(options.env ?? process.env) ??
    findInCache(cache) ??
    (await install(cache, options.installers ?? installers()))
  );
}

/** Installs a server by the first way that works; a usable binary comes out, or one error that tells everything. */
export async function install(cache: string, ways: readonly Installer[]): Promise<NatsServerBinary> {
  const reasons: string[] = [];
  for (const way of ways) {
    const attempt = await way.install(cache).catch((error: unknown): Attempt => ({ reason: String(error) }));
    if ('path' in attempt) {
      const binary = inspectBinary(attempt.path, attempt.path.startsWith(cache) ? 'cache' : 'system');
      if (binary) return binary;
      reasons.push(`${way.name}: ${attempt.path} does not run as a NATS server`);
    } else reasons.push(`${way.name}: ${attempt.reason}`);
  }
  throw new NatsServerMissingError(
    `No NATS server was found (NATS_URL, nats-server on PATH, ${cache}) and none could be installed. ` +
      `Install nats-server ${OLDEST_VERSION} or newer (${CURRENT_VERSION} is what this project is built on) so that it is on ` +
      `PATH, or set NATS_URL to a running server with JetStream. Tried:\n${reasons.map((reason) => `  - ${reason}`).join('\n')}`,
  );
}
