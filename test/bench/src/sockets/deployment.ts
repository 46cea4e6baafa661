import { ChildProcess, type TestNats, freePort, startTestNats } from '@longrein/testing';
import { LogClient } from '@longrein/log/client';
import { readFile } from 'node:fs/promises';

const PARTITIONS = 4;

/** What lets clients in. */
export const TOKEN = 'token-of-the-bench';

/** What tails and writers of the bench need: nobody owns the partitions, so the writers need no epoch. */
export class SocketDeployment {
  readonly #children: ChildProcess[] = [];
  #gateway: ChildProcess | undefined;

  private constructor(
    readonly nats: TestNats,
    readonly creator: LogClient,
    readonly writer: LogClient,
    private readonly port: number,
  ) {}

  /** NATS, log and gateway, each a process of its own. */
  static async start(): Promise<SocketDeployment> {
    const nats = await startTestNats();
    try {
      const nc = await nats.connect();
      const client = (service: 'gateway' | 'loop'): LogClient => new LogClient(nc, { service, partitions: PARTITIONS });
      const deployment = new SocketDeployment(nats, client('gateway'), client('loop'), await freePort());
      await deployment.#service('log', '0');
      deployment.#gateway = await deployment.#service('gateway', String(deployment.port));
      return deployment;
    } catch (error) {
      await nats.stop();
      throw error;
    }
  }

  /** The gateway's address for WebSockets. */
  get url(): string {
    return `ws://127.0.0.1:${this.port}`;
  }

  /** Resident memory of the gateway's process, in bytes. */
  async gatewayMemory(): Promise<number> {
    const status = await readFile(`/proc/${this.#gateway!.pid}/status`, 'utf8');
    const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
    if (kilobytes === undefined) throw new Error(`no VmRSS in the status of process ${this.#gateway!.pid}`);
    return Number(kilobytes) * 1024;
  }

  async stop(): Promise<void> {
    this.creator.close();
    this.writer.close();
    await Promise.all(this.#children.map((child) => child.kill()));
    await this.nats.stop();
  }

  async #service(app: 'log' | 'gateway', port: string): Promise<ChildProcess> {
    const child = ChildProcess.start({
      entry: `apps/${app}/dist/main.js`,
      env: {
        NATS_URL: this.nats.url,
        PORT: port,
        LONGREIN_PARTITIONS: String(PARTITIONS),
        LONGREIN_TOKENS: JSON.stringify([{ token: TOKEN, capabilities: ['read'] }]),
        LONGREIN_OUTBOUND_BYTES: '65536',
        LOG_FORMAT: 'json',
        LOG_LEVEL: 'info',
      },
    });
    this.#children.push(child);
    await child.json<{ msg?: string }>(({ msg }) => msg === `${app} is up`);
    return child;
  }
}
