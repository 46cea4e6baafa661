import { findAll, inspectBinary, type NatsServerBinary, type SearchPlaces } from './binaries.js';
import { NatsServerMissingError } from './errors.js';
import { type Installer, install, installers, type ResolveOptions } from './resolve.js';
import { cacheDirectory } from './project.js';
import { compareVersions, CURRENT_VERSION } from './version.js';

/** Names the server that tests run on: `current` (default), `oldest`, or a binary's path. */
export const TEST_NATS_VARIABLE = 'LONGREIN_TEST_NATS';

/** A server version that tests can run on. */
export interface TestNatsVersion {
  readonly name: 'current' | 'oldest' | 'given';
  readonly version: string;
  readonly path: string;
}

/** A server built before the pinned release's minor version does not count as current. */
const CURRENT_FLOOR = CURRENT_VERSION.replace(/\.\d+$/, '.0');

/**
 * The versions at hand that differ: the newest, and the oldest when it is another one. With `LONGREIN_TEST_NATS` set, that
 * one alone. Never installs anything and is synchronous, so that it can feed `describe.each`.
 */
export function availableNatsVersions(options: SearchPlaces = {}): TestNatsVersion[] {
  const env = options.env ?? process.env;
  const choice = env[TEST_NATS_VARIABLE] ?? '';
  if (choice !== '' && choice !== 'current' && choice !== 'oldest') return [given(choice)];
  const all = findAll(options);
  const newest = all[0];
  const oldest = all.at(-1);
  if (!newest || !oldest) return [];
  const versions: TestNatsVersion[] = [
    { name: 'current', version: newest.version, path: newest.path },
    { name: 'oldest', version: oldest.version, path: oldest.path },
  ];
  if (choice !== '') return versions.filter(({ name }) => name === choice);
  return newest === oldest ? versions.slice(0, 1) : versions;
}

/**
 * The server that tests run on. Tests want a current release even where the system's own is old, so a machine that could
 * build or download one gets it in the project's cache; failing that they run on what is there.
 */
export async function resolveTestNatsServer(options: ResolveOptions & SearchPlaces = {}): Promise<TestNatsVersion> {
  const versions = availableNatsVersions(options);
  const first = versions[0];
  const wantsCurrent = first === undefined || first.name === 'current';
  if (first && (!wantsCurrent || compareVersions(first.version, CURRENT_FLOOR) >= 0)) return first;
  return { name: 'current', ...pick(await installCurrent(options, first !== undefined)) };
}

function given(path: string): TestNatsVersion {
  const binary = inspectBinary(path, 'given');
  if (binary) return { name: 'given', ...pick(binary) };
  throw new NatsServerMissingError(
    `${TEST_NATS_VARIABLE}=${path} is neither "current" nor "oldest" nor the path of a NATS server that runs`,
  );
}

/** Whatever can put a current release into the cache; with an older server at hand the package manager adds nothing. */
async function installCurrent(options: ResolveOptions & SearchPlaces, haveOlder: boolean): Promise<NatsServerBinary> {
  const cache = options.cache ?? cacheDirectory();
  const ways: readonly Installer[] = options.installers ?? installers();
  if (!haveOlder) return install(cache, ways);
  try {
    return await install(
      cache,
      ways.filter(({ name }) => name !== 'package manager'),
    );
  } catch (error) {
    if (!(error instanceof NatsServerMissingError)) throw error;
    return findAll({ ...options, cache })[0]!;
  }
}

function pick({ version, path }: NatsServerBinary): { version: string; path: string } {
  return { version, path };
}
