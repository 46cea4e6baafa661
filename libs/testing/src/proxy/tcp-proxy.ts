import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { type Clock, systemClock } from '@longrein/clock';
import { freePort } from '@longrein/nats-server';
import { Flow, type FlowRules } from './flow.js';
import { type NatsFrame, type PubAck, pubAckOf } from './frames.js';
import { Interception } from './interception.js';

/** `up`: from the client to the server. `down`: from the server to the client. */
export type Direction = 'up' | 'down';

/** Where a proxy forwards to. */
export interface TcpProxyOptions {
  /** Port of the server on 127.0.0.1. */
  readonly target: number;
  /** Default: a free one. */
  readonly port?: number;
  /** Times the delays. Default: the machine's. */
  readonly clock?: Clock;
}

interface Link {
  readonly client: Socket;
  readonly server: Socket;
  readonly flows: Readonly<Record<Direction, Flow>>;
}

/** A proxy in front of a NATS server that can fail in every way a network does. Understands the plain-text protocol only. */
export class TcpProxy {
  private readonly links = new Set<Link>();
  private readonly rules: Record<Direction, FlowRules> = {
    up: { paused: false, delayMs: 0, filters: new Set() },
    down: { paused: false, delayMs: 0, filters: new Set() },
  };
  private listener: Server | undefined;
  private readonly arrivals = new Set<() => void>();

  private constructor(
    private readonly target: number,
    readonly port: number,
    private readonly clock: Clock,
  ) {}

  /** Starts a proxy on 127.0.0.1. */
  static async start(options: TcpProxyOptions): Promise<TcpProxy> {
    const proxy = new TcpProxy(options.target, options.port ?? (await freePort()), options.clock ?? systemClock);
    await proxy.accept();
    return proxy;
  }

  /** Address for clients. */
  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  /** Open connections. */
  get connections(): number {
    return this.links.size;
  }

  /** Resolves when at least `count` connections are open. */
  async whenConnected(count = 1): Promise<void> {
    while (this.links.size < count) {
      await new Promise<void>((resolve) => this.arrivals.add(resolve));
    }
  }

  /** Breaks every open connection on both sides at once, as a reset. New ones are accepted. */
  cut(): void {
    for (const { client, server } of this.links) {
      client.resetAndDestroy();
      server.resetAndDestroy();
    }
    this.links.clear();
  }

  /** Stops accepting: new connections are refused by the system. Open ones stay; `cut` breaks those too. */
  async refuse(): Promise<void> {
    const listener = this.listener;
    this.listener = undefined;
    if (!listener?.listening) return;
    // `close` reports only when the last connection has ended; the port is free at once.
    listener.close();
  }

  /** Accepts connections again, on the same port. */
  async accept(): Promise<void> {
    if (this.listener) return;
    const listener = createServer({ noDelay: true }, (client) => this.link(client));
    this.listener = listener;
    listener.listen(this.port, '127.0.0.1');
    await once(listener, 'listening');
  }

  /** Holds back everything that moves in `direction`, without closing anything: the peer seems to hang. */
  pause(direction: Direction): void {
    this.rules[direction].paused = true;
  }

  /** Sends on what `pause` held back, and whatever follows. */
  resume(direction: Direction): void {
    this.rules[direction].paused = false;
    for (const link of this.links) link.flows[direction].release();
  }

  /** Delays everything in `direction` by `ms` milliseconds; 0 takes the delay off. Order is kept. */
  delay(direction: Direction, ms: number): void {
    this.rules[direction].delayMs = ms;
  }

  /**
   * Loses whole protocol frames: the first `times` (default: all) that match. Everything else flows on, so the
   * connection stays healthy and only the chosen message is missing.
   */
  drop(direction: Direction, matches: (frame: NatsFrame) => boolean, times = Infinity): Interception {
    const { filters } = this.rules[direction];
    const interception = new Interception(matches, times, () => filters.delete(interception.decide));
    filters.add(interception.decide);
    return interception;
  }

  /** Loses JetStream publish acknowledgements: the message is stored and its writer never hears of it. */
  dropPubAcks(matches: (ack: PubAck, frame: NatsFrame) => boolean = () => true, times = Infinity): Interception {
    return this.drop(
      'down',
      (frame) => {
        const ack = pubAckOf(frame);
        return ack !== undefined && matches(ack, frame);
      },
      times,
    );
  }

  /** Closes everything. */
  async stop(): Promise<void> {
    await this.refuse();
    this.cut();
  }

  private link(client: Socket): void {
    const server = connect({ port: this.target, host: '127.0.0.1', noDelay: true });
    const link: Link = {
      client,
      server,
      flows: {
        up: new Flow(client, server, this.rules.up, this.clock),
        down: new Flow(server, client, this.rules.down, this.clock),
      },
    };
    const broken = (): void => {
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      socket.on('error', broken);
      socket.on('close', () => {
        if (this.links.delete(link) && socket === server) client.end();
        if (socket === client) server.destroy();
      });
    }
    this.links.add(link);
    for (const arrived of this.arrivals) arrived();
    this.arrivals.clear();
  }
}
