export {
  findAll,
  findInCache,
  findOnPath,
  inspectBinary,
  type NatsServerBinary,
  type SearchPlaces,
} from './binaries.js';
export { NatsServerFailedError, NatsServerMissingError } from './errors.js';
export { availableNatsVersions, resolveTestNatsServer, TEST_NATS_VARIABLE, type TestNatsVersion } from './for-tests.js';
export { freePort } from './process/port.js';
export { probe, type ServerInfo } from './process/probe.js';
export { boundToParent, killOnExit, removeOnExit } from './process/reaper.js';
export type { ServerExit } from './process/server-process.js';
export { type NatsServer, startNatsServer, type StartOptions } from './process/start.js';
export { cacheDirectory, cachedBinary, projectRoot } from './project.js';
export { type ProvidedNats, provideNats } from './provide.js';
export { type Installer, installers, type ResolveOptions, resolveNatsServer } from './resolve.js';
export { compareVersions, CURRENT_VERSION, OLDEST_VERSION, parseVersion } from './version.js';
