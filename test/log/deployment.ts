import type { AgentEventEnvelope, EventEnvelope, ServiceName, StreamKind } from '@longrein/events';
import { partitionOf } from '@longrein/events';
import { type AppendRequest, type EventLog, type ScrubRule, Scrubber } from '@longrein/log';
import { LogClient } from '@longrein/log/client';
import { LogServer, type LogServerNotice, SoleLeases, provision } from '@longrein/log/jetstream';
import { TcpProxy, type TestNats, startTestNats } from '@longrein/testing';
import type { NatsConnection } from '@nats-io/transport-node';

/** A replica of the log service inside the test's process, behind a proxy of its own. */
export interface Replica {
  readonly server: LogServer;
  readonly connection: NatsConnection;
  readonly proxy: TcpProxy;
  /** What it reported. */
  readonly notices: readonly LogServerNotice[];
  /** As the death of its process: its connection is gone, and with it everything it only remembered. */
  die(): Promise<void>;
}

/** A real server with the log's streams, its replicas and clients. */
export class Deployment {
  readonly #replicas: Replica[] = [];

  private constructor(
    readonly nats: TestNats,
    readonly partitions: number,
    private readonly clients: NatsConnection,
    private readonly scrubbers: readonly ScrubRule[],
  ) {}

  static async start(options: {
    binary?: string;
    partitions?: number;
    scrubbers?: readonly ScrubRule[];
    storeDir?: string;
  }): Promise<Deployment> {
    const { partitions = 1, scrubbers = [], binary, storeDir } = options;
    const nats = await startTestNats({ ...(binary ? { binary } : {}), ...(storeDir ? { storeDir } : {}) });
    const clients = await nats.connect({ reconnectTimeWait: 50, maxReconnectAttempts: -1 });
    await provision(clients, { partitions });
    return new Deployment(nats, partitions, clients, scrubbers);
  }

  /** Starts a replica that owns every partition, whoever else believes that too. */
  async replica(options: { ack_timeout_ms?: number } = {}): Promise<Replica> {
    const proxy = await TcpProxy.start({ target: this.nats.port });
    const connection = await this.nats.connect({
      servers: proxy.url,
      reconnectTimeWait: 50,
      maxReconnectAttempts: -1,
    });
    const notices: LogServerNotice[] = [];
    const server = new LogServer(connection, {
      partitions: this.partitions,
      leases: new SoleLeases(this.partitions),
      scrubber: new Scrubber(this.scrubbers),
      pipeline: { ack_timeout_ms: options.ack_timeout_ms ?? 500 },
      onNotice: (notice) => notices.push(notice),
    });
    await server.start();
    const replica: Replica = {
      server,
      connection,
      proxy,
      notices,
      die: async () => {
        await proxy.refuse();
        proxy.cut();
        await connection.close();
        await server.stop();
      },
    };
    this.#replicas.push(replica);
    return replica;
  }

  as(service: ServiceName, kind?: 'sessions'): EventLog<EventEnvelope>;
  as(service: ServiceName, kind: 'agents'): EventLog<AgentEventEnvelope>;
  as(service: ServiceName, kind: StreamKind = 'sessions'): EventLog<never> {
    return new LogClient(this.clients, { service, kind, partitions: this.partitions }) as EventLog<never>;
  }

  /** Lets the owner die once `count` events of the append are on their way and the rest are not. */
  async storePrefix(
    replica: Replica,
    append: { service: ServiceName; id: string; request: AppendRequest },
    count: number,
  ): Promise<void> {
    const subject = `sessions.${partitionOf(append.id, this.partitions)}.${append.id}.`;
    let passed = 0;
    const lost = replica.proxy.drop('up', (frame) => (frame.subject?.startsWith(subject) ?? false) && ++passed > count);
    const body = JSON.stringify({ session_id: append.id, ...append.request });
    const partition = partitionOf(append.id, this.partitions);
    this.clients.publish(`log.sessions.${partition}.append.${append.service}`, body);
    await lost.whenDropped(append.request.events.length - count);
    await replica.die();
  }

  async close(): Promise<void> {
    await Promise.all(this.#replicas.map((replica) => replica.die()));
    await this.nats.stop();
  }
}
