import { type NatsServer, resolveTestNatsServer, startNatsServer, type StartOptions } from '@longrein/nats-server';
import { connect, type ConnectionOptions, type NatsConnection } from '@nats-io/transport-node';
import { hooks } from '../hooks.js';

/** A NATS server of a test, and the connections the test opened to it. */
export interface TestNats {
  readonly server: NatsServer;
  readonly url: string;
  readonly port: number;
  readonly version: string;
  /** Opens a connection (to `options.servers`, e.g. a proxy's, else to the server itself); closed by `stop`. */
  connect(options?: ConnectionOptions): Promise<NatsConnection>;
  /** Closes the connections opened here and stops the server. */
  stop(): Promise<void>;
}

/** Starts a server for tests: the version of `LONGREIN_TEST_NATS`, else a current one; never that of `NATS_URL`. */
export async function startTestNats(options: StartOptions = {}): Promise<TestNats> {
  const binary = options.binary ?? (await resolveTestNatsServer()).path;
  return new RunningTestNats(await startNatsServer({ ...options, binary }));
}

/**
 * Runs one server for all tests of the surrounding `describe` block (or file) and stops it afterwards, also when they
 * fail. The returned object can be used inside hooks and tests only.
 */
export function withNats(options: StartOptions = {}): TestNats {
  let running: TestNats | undefined;
  hooks().beforeAll(async () => {
    running = await startTestNats(options);
  });
  hooks().afterAll(async () => {
    await running?.stop();
  });
  const present = (): TestNats => {
    if (!running) throw new Error('withNats(): the server runs only inside hooks and tests of its describe block');
    return running;
  };
  return {
    get server() {
      return present().server;
    },
    get url() {
      return present().url;
    },
    get port() {
      return present().port;
    },
    get version() {
      return present().version;
    },
    connect: (connection) => present().connect(connection),
    stop: () => present().stop(),
  };
}

class RunningTestNats implements TestNats {
  private readonly connections: NatsConnection[] = [];

  constructor(readonly server: NatsServer) {}

  get url(): string {
    return this.server.url;
  }

  get port(): number {
    return this.server.port;
  }

  get version(): string {
    return this.server.version;
  }

  async connect(options: ConnectionOptions = {}): Promise<NatsConnection> {
    const connection = await connect({ servers: this.url, ...options });
    this.connections.push(connection);
    return connection;
  }

  async stop(): Promise<void> {
    try {
      await Promise.all(this.connections.splice(0).map((connection) => connection.close()));
    } finally {
      await this.server.stop();
    }
  }
}
