import { ChildProcess, type NatsFrame, TcpProxy } from '@longrein/testing';
import { type SeenAppend, appendIn, outcomeIn } from './append-label.js';

/**
 * A place at which a replica is killed, where the first frame that matches is lost and with it everything that comes
 * later, or frozen, where that frame and whatever follows is held back until the replica is thawed.
 */
export interface Trap {
  /** Default: `kill`. */
  readonly fate?: 'kill' | 'freeze';
  /** Frames on their way to the server. */
  readonly up?: (frame: NatsFrame) => boolean;
  /** Frames on their way to the replica. */
  readonly down?: (frame: NatsFrame) => boolean;
  /** Appends on their way to the log. */
  readonly before?: (append: SeenAppend) => boolean;
  /** Appends whose answer, `stored`, is on its way back. */
  readonly after?: (append: SeenAppend) => boolean;
}

/** What happened to the process at the trap. */
type Fate = 'runs' | 'dead' | 'frozen';

/** A replica of the loop in a process of its own, whose every word to and from the server passes through the test. */
export class LoopReplica {
  /** Appends it asked for, in order. */
  readonly appends: SeenAppend[] = [];
  /** Resolves when the armed trap has sprung. */
  sprung: Promise<void> = Promise.resolve();
  readonly #steps = new Map<string, number>();
  readonly #answers = new Set<() => void>();
  #trap: Trap | undefined;
  #tellSprung: () => void = () => undefined;
  #fate: Fate = 'runs';

  private constructor(
    readonly name: string,
    readonly child: ChildProcess,
    readonly proxy: TcpProxy,
  ) {
    proxy.drop('up', (frame) => this.#up(frame));
    proxy.drop('down', (frame) => this.#down(frame));
  }

  /** Starts the process and resolves when it is ready to own partitions. */
  static async start(
    name: string,
    natsPort: number,
    env: Record<string, string>,
    made: (replica: LoopReplica) => void = () => undefined,
  ): Promise<LoopReplica> {
    const proxy = await TcpProxy.start({ target: natsPort });
    const child = ChildProcess.start({
      entry: 'apps/loop/dist/main.js',
      env: { ...env, NATS_URL: proxy.url, PORT: '0', LONGREIN_INSTANCE: name, LOG_FORMAT: 'json', LOG_LEVEL: 'debug' },
    });
    const replica = new LoopReplica(name, child, proxy);
    made(replica);
    try {
      await child.json<{ msg?: string }>(({ msg }) => msg === 'loop is up');
    } catch (error) {
      await replica.end();
      throw error;
    }
    return replica;
  }

  get running(): boolean {
    return this.#fate === 'runs' && this.child.running;
  }

  /** Takes an armed trap away. */
  disarm(): void {
    this.#trap = undefined;
  }

  /** Lays a trap. */
  arm(trap: Trap): void {
    this.sprung = new Promise((resolve) => (this.#tellSprung = resolve));
    this.#trap = trap;
  }

  /** Kills the process now; nothing that it sent and has not arrived yet arrives any more. */
  die(): void {
    this.#fate = 'dead';
    this.#trap = undefined;
    this.child.signal('SIGKILL');
    this.#tellSprung();
  }

  /** Stops the process in its tracks; what it sent last is held back until it is thawed. */
  freeze(): void {
    this.#fate = 'frozen';
    this.proxy.pause('up');
    this.#trap = undefined;
    this.child.freeze();
    this.#tellSprung();
  }

  /** Lets it run on, and what it had sent arrive. */
  thaw(): void {
    this.#fate = 'runs';
    this.child.thaw();
    this.proxy.resume('up');
  }

  /** Resolves when everything it asked the log for is answered. */
  async whenSettled(): Promise<void> {
    while (this.appends.some(({ outcome }) => outcome === undefined)) {
      await new Promise<void>((resolve) => this.#answers.add(resolve));
    }
  }

  async end(): Promise<void> {
    await this.child.kill();
    await this.proxy.stop();
  }

  #up(frame: NatsFrame): boolean {
    if (this.#fate === 'dead') return true;
    const append = appendIn(frame, this.#steps);
    if (append && this.#trap?.before?.(append)) return this.#spring();
    if (this.#trap?.up?.(frame)) return this.#spring();
    if (append) this.appends.push(append);
    return false;
  }

  #down(frame: NatsFrame): boolean {
    if (this.#fate === 'dead') return true;
    const append = this.appends.findLast(({ reply }) => reply !== undefined && reply === frame.subject);
    if (append) {
      append.outcome = outcomeIn(frame);
      for (const tell of this.#answers) tell();
      this.#answers.clear();
    }
    if (append?.outcome === 'stored' && this.#trap?.after?.(append)) return this.#spring();
    return this.#trap?.down?.(frame) ? this.#spring() : false;
  }

  /** Whether the frame is lost. */
  #spring(): boolean {
    const { fate } = this.#trap!;
    if (fate === 'freeze') this.freeze();
    else this.die();
    return fate !== 'freeze';
  }
}
