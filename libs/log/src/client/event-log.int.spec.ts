import type { AgentEventEnvelope, EventEnvelope, ServiceName, StreamKind } from '@longrein/events';
import { availableNatsVersions, startTestNats } from '@longrein/testing';
import { describeEventLog, type OpenLog, type OpenOptions } from '../contract/index.js';
import { Scrubber } from '../core/index.js';
import { LogServer, provision } from '../jetstream/index.js';
import type { EventLog, LeaseHandlers, PartitionLeases } from '../port/index.js';
import { LogClient } from './log-client.js';

/** Every partition, for good: one replica is alone here. */
class AllPartitions implements PartitionLeases {
  readonly held: ReadonlySet<number>;

  constructor(partitions: number) {
    this.held = new Set(Array.from({ length: partitions }, (_, p) => p));
  }

  async start(handlers: LeaseHandlers): Promise<void> {
    await Promise.all([...this.held].map((partition) => handlers.acquired(partition)));
  }

  async release(): Promise<void> {}
  async stop(): Promise<void> {}
}

async function open(binary: string, { partitions, scrubbers }: OpenOptions): Promise<OpenLog> {
  const nats = await startTestNats({ binary });
  const nc = await nats.connect();
  const admin = await nats.connect();
  await provision(admin, { partitions });
  const clients: LogClient[] = [];

  async function serve(): Promise<LogServer> {
    const leases = new AllPartitions(partitions);
    const server = new LogServer(await nats.connect(), { partitions, leases, scrubber: new Scrubber(scrubbers) });
    await server.start();
    return server;
  }

  let server = await serve();
  function as(service: ServiceName, kind?: 'sessions'): EventLog<EventEnvelope>;
  function as(service: ServiceName, kind: 'agents'): EventLog<AgentEventEnvelope>;
  function as(
    service: ServiceName,
    kind: StreamKind = 'sessions',
  ): EventLog<EventEnvelope> & EventLog<AgentEventEnvelope> {
    const client = new LogClient(nc, { service, kind, partitions });
    clients.push(client);
    return client as unknown as EventLog<EventEnvelope> & EventLog<AgentEventEnvelope>;
  }
  return {
    partitions,
    as,
    async restartOwner() {
      await server.stop();
      server = await serve();
    },
    async close() {
      for (const client of clients) client.close();
      await server.stop();
      await nats.stop();
    },
  };
}

for (const { version, path } of availableNatsVersions()) {
  describeEventLog(`the log through the service on NATS ${version}`, {
    open: (options) => open(path, options),
    runs: 5,
    can: { storePrefix: false },
  });
}
