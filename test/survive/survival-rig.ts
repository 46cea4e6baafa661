import { type EventEnvelope, type ServiceName, liveSubjects } from '@longrein/events';
import { type DocumentStore, Scrubber } from '@longrein/log';
import { KvDocumentStore, LogClient } from '@longrein/log/client';
import { LogServer, SoleLeases, provision } from '@longrein/log/jetstream';
import { ModelServer, type TestNats, startTestNats } from '@longrein/testing';
import type { NatsConnection } from '@nats-io/transport-node';
import { SessionProbe } from '../../apps/loop/src/testing/session-probe.js';
import { LoopReplica, type Trap } from './loop-replica.js';

/** A trap laid for all replicas. */
interface Armed {
  readonly trap: Trap;
  readonly resolve: (victim: LoopReplica) => void;
}

/** An ownership of a partition by a replica of the loop. */
export interface Term {
  readonly partition: number;
  readonly owner: string;
}

/** NATS, the log and a scripted model in the test's process; replicas of the loop, each in a process of its own. */
export class SurvivalRig {
  readonly terms: Term[] = [];
  readonly replicas: LoopReplica[] = [];
  readonly #clients = new Map<ServiceName, LogClient>();
  readonly #watchers = new Set<() => void>();
  #armed: Armed | undefined;
  #made = 0;

  private constructor(
    readonly nats: TestNats,
    readonly connection: NatsConnection,
    readonly model: ModelServer,
    readonly partitions: number,
    private readonly log: LogServer,
    readonly documents: DocumentStore,
  ) {}

  static async start({ partitions = 1 }: { partitions?: number } = {}): Promise<SurvivalRig> {
    const nats = await startTestNats();
    const connection = await nats.connect();
    await provision(connection, { partitions });
    const log = new LogServer(connection, {
      partitions,
      scrubber: new Scrubber([]),
      leases: new SoleLeases(partitions),
    });
    await log.start();
    const [model, documents] = await Promise.all([ModelServer.start(), KvDocumentStore.open(connection)]);
    const rig = new SurvivalRig(nats, connection, model, partitions, log, documents);
    rig.#watchOwners();
    await connection.flush();
    return rig;
  }

  /** Starts a replica. It owns what is free, and takes over what becomes free. */
  async loop(env: Record<string, string> = {}): Promise<LoopReplica> {
    const variables = {
      LONGREIN_PARTITIONS: String(this.partitions),
      LONGREIN_MODEL: 'openai/scripted',
      LONGREIN_LEASE_TTL_MS: '1500',
      OPENAI_BASE_URL: this.model.openAiUrl,
      OPENAI_API_KEY: 'none',
      ...env,
    };
    const name = `loop-${++this.#made}`;
    return LoopReplica.start(name, this.nats.port, variables, (replica) => {
      this.replicas.push(replica);
      if (this.#armed) this.#arm(replica, this.#armed);
    });
  }

  /** Lays a trap for every replica, also those to come. Resolves with the one whose trap springs first. */
  arm(trap: Trap): Promise<LoopReplica> {
    const { promise, resolve } = Promise.withResolvers<LoopReplica>();
    this.#armed = { trap, resolve };
    for (const replica of this.replicas) if (replica.running) this.#arm(replica, this.#armed);
    return promise;
  }

  /** Takes all traps away. */
  disarm(): void {
    this.#armed = undefined;
    for (const replica of this.replicas) replica.disarm();
  }

  /** The replica that owned a partition last. */
  owner(partition = 0): LoopReplica {
    const term = this.terms.findLast((candidate) => candidate.partition === partition);
    const replica = this.replicas.find(({ name }) => name === term?.owner);
    if (!replica) throw new Error(`no replica has owned partition ${partition} yet`);
    return replica;
  }

  /** Resolves with the owner of a partition once it is one that runs. */
  async runningOwner(partition = 0): Promise<LoopReplica> {
    for (;;) {
      const term = this.terms.findLast((candidate) => candidate.partition === partition);
      if (term && this.owner(partition).running) return this.owner(partition);
      await new Promise<void>((resolve) => this.#watchers.add(resolve));
    }
  }

  as(service: ServiceName): LogClient {
    const client =
      this.#clients.get(service) ?? new LogClient(this.connection, { service, partitions: this.partitions });
    this.#clients.set(service, client);
    return client;
  }

  /** Creates a session and gives a client of it. */
  async session(id: string): Promise<SessionProbe> {
    await this.as('gateway').create(id);
    return new SessionProbe(id, { as: (service) => this.as(service), documents: this.documents });
  }

  async stop(): Promise<void> {
    await Promise.all(this.replicas.map((replica) => replica.end()));
    for (const client of this.#clients.values()) client.close();
    await this.log.stop();
    await this.model.stop();
    await this.nats.stop();
  }

  #arm(replica: LoopReplica, { trap, resolve }: Armed): void {
    replica.arm(trap);
    void replica.sprung.then(() => {
      // One death at a time: the others are spared until the next trap is laid.
      this.disarm();
      resolve(replica);
    });
  }

  #watchOwners(): void {
    this.connection.subscribe(liveSubjects('sessions', '*' as unknown as number, '$partition'), {
      callback: (_, message) => {
        const { type, payload } = message.json<EventEnvelope>();
        const { scope, owner } = payload as { scope?: string; owner?: string };
        if (type !== 'owner/changed' || scope !== 'loop' || owner === undefined) return;
        this.terms.push({ partition: Number(message.subject.split('.')[2]), owner });
        for (const tell of this.#watchers) tell();
        this.#watchers.clear();
      },
    });
  }
}
