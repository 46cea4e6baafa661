import type { EventEnvelope } from '@longrein/events';
import { approvalsConfig, startApprovals } from '@longrein/approvals-app';
import { type RunningGateway, gatewayConfig, startGateway } from '@longrein/gateway-app';
import type { NewEvent, SessionLog } from '@longrein/log';
import type { RunningService } from '@longrein/service';
import type { ClientOptions } from 'ws';
import { SocketClient } from '../../apps/gateway/src/socket-client.spec-kit.js';
import { Deployment } from '../log/deployment.js';

/** Tokens of the gateways under test. */
export const TOKENS = {
  all: 'token-of-everything',
  team: 'token-of-the-team',
  reader: 'token-of-a-reader',
  approver: 'token-of-an-approver',
} as const;

const RULES = [
  { token: TOKENS.all },
  { token: TOKENS.team, agents: ['team-*'] },
  { token: TOKENS.reader, capabilities: ['read'] },
  { token: TOKENS.approver, name: 'on-call', capabilities: ['read', 'approve'] },
];

/** A NATS server, a log service and gateways, all real and in the test's process. */
export class GatewayRig {
  readonly #services: RunningService[] = [];
  readonly #clients: SocketClient[] = [];
  /** The log as the service that plays the loop's part. */
  readonly worker: SessionLog;
  readonly #seqs = new Map<string, number>();

  private constructor(readonly deployment: Deployment) {
    this.worker = deployment.as('worker');
  }

  static async start(): Promise<GatewayRig> {
    const deployment = await Deployment.start({ partitions: 2 });
    await deployment.replica();
    return new GatewayRig(deployment);
  }

  /** Starts a gateway; `env` sets its limits. Resolves to its address. */
  async gateway(env: Record<string, string> = {}): Promise<string> {
    return (await this.replica(env)).url!;
  }

  /** Starts a gateway, to be handled as a service. */
  async replica(env: Record<string, string> = {}): Promise<RunningGateway> {
    const tokens = 'LONGREIN_TOKENS_FILE' in env ? {} : { LONGREIN_TOKENS: JSON.stringify(RULES) };
    const service = await startGateway(gatewayConfig.parse({ ...this.environment, ...tokens, PORT: '0', ...env }));
    this.#services.push(service);
    return service;
  }

  /** Stops the gateway on this port. */
  async stopGateway(port: string): Promise<void> {
    const at = this.#services.findIndex(({ url }) => url?.endsWith(`:${port}`));
    await this.#services.splice(at, 1)[0]!.stop();
  }

  /** Starts a replica of the approvals service. */
  async approvals(): Promise<RunningService> {
    const { http: _, ...config } = approvalsConfig.parse(this.environment);
    const service = await startApprovals(config);
    this.#services.push(service);
    return service;
  }

  /** What every service of the deployment is configured with. */
  get environment(): Record<string, string> {
    return {
      NATS_URL: this.deployment.nats.url,
      LONGREIN_PARTITIONS: String(this.deployment.partitions),
      LOG_LEVEL: 'silent',
    };
  }

  /** Opens a connection to an agent and takes its `hello`. */
  async open(url: string, agent: string, token: string = TOKENS.all): Promise<SocketClient> {
    const client = await SocketClient.open(url, agent, token);
    this.#clients.push(client);
    return client;
  }

  /** Connects without waiting for anything. */
  connect(url: string, path: string, token?: string, options: ClientOptions = {}): SocketClient {
    const client = new SocketClient(url, path, token, options);
    this.#clients.push(client);
    return client;
  }

  /** Appends as the worker; resolves to the seq of the last event. */
  async append(session: string, events: readonly NewEvent[]): Promise<number> {
    const since = this.#seqs.get(session) ?? -1;
    const { seq } = await this.worker.append(session, { events, since });
    this.#seqs.set(session, seq);
    return seq;
  }

  /** Appends this many chunks of this size. */
  async chunks(session: string, count: number, bytes = 16): Promise<number> {
    let seq = -1;
    const batch = Math.max(1, Math.min(64, Math.floor(400_000 / bytes)));
    for (let done = 0; done < count; done += batch) {
      const events = Array.from({ length: Math.min(batch, count - done) }, (_, i) => ({
        type: 'assistant/chunk',
        payload: { text: String(done + i).padEnd(bytes, '.') },
      }));
      seq = await this.append(session, events);
    }
    return seq;
  }

  /** The whole session, read from the log itself. */
  async log(session: string): Promise<EventEnvelope[]> {
    const events: EventEnvelope[] = [];
    for (let next: number | null = 0; next !== null;) {
      const page: Awaited<ReturnType<SessionLog['read']>> = await this.worker.read(session, { from_seq: next });
      events.push(...page.events);
      next = page.next_seq;
    }
    return events;
  }

  /** Ends the connections of a test. */
  async disconnect(): Promise<void> {
    for (const client of this.#clients.splice(0)) client.kill();
  }

  async stop(): Promise<void> {
    await this.disconnect();
    await Promise.all(this.#services.splice(0).map((service) => service.stop()));
    await this.deployment.close();
  }
}
