import { type NatsServer, freePort, startNatsServer } from '@longrein/testing';

/** Three NATS servers on 127.0.0.1 that replicate streams. */
export class Cluster {
  private constructor(readonly servers: readonly NatsServer[]) {}

  static async start(binary: string): Promise<Cluster> {
    const routes = await Promise.all([freePort(), freePort(), freePort()]);
    const urls = routes.map((port) => `nats-route://127.0.0.1:${port}`).join(', ');
    // Together: a member is ready for clients only once it has met the others.
    const servers = await Promise.all(
      routes.map((port, i) =>
        startNatsServer({
          binary,
          config: `server_name: n${i}\ncluster { name: test, listen: "127.0.0.1:${port}", routes: [${urls}] }\n`,
        }),
      ),
    );
    return new Cluster(servers);
  }

  /** Addresses for clients. */
  get urls(): string[] {
    return this.servers.map(({ url }) => url);
  }

  /** The server of this name, as stream information gives it. */
  named(name: string): NatsServer {
    return this.servers[Number(name.slice(1))]!;
  }

  async stop(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.stop()));
  }
}
