export { type Cancel, type Clock, systemClock } from '@longrein/clock';
export {
  availableNatsVersions,
  freePort,
  type NatsServer,
  startNatsServer,
  type StartOptions,
  type TestNatsVersion,
} from '@longrein/nats-server';
export { VirtualClock } from './clock/virtual-clock.js';
export { startTestNats, type TestNats, withNats } from './nats/test-nats.js';
export { ChildProcess, type ChildExit, type ChildOptions, type LineMatcher } from './process/child-process.js';
export { type Processes, withProcesses } from './process/with-processes.js';
export { FrameParser, type NatsFrame, type PubAck, pubAckOf } from './proxy/frames.js';
export type { Interception } from './proxy/interception.js';
export { type Direction, TcpProxy, type TcpProxyOptions } from './proxy/tcp-proxy.js';
export * from './model-server/index.js';
