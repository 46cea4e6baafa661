export { NatsServerFailedError, NatsServerMissingError } from './errors.js';
export { availableNatsVersions, resolveTestNatsServer, type TestNatsVersion } from './for-tests.js';
export { freePort } from './process/port.js';
export { probe, type ServerInfo } from './process/probe.js';
export { boundToParent, killOnExit } from './process/reaper.js';
export type { ServerExit } from './process/server-process.js';
export { type NatsServer, startNatsServer, type StartOptions } from './process/start.js';
export { projectRoot } from './project.js';
