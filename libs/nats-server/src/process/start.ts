import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NatsServerFailedError } from '../errors.js';
import { resolveNatsServer } from '../resolve.js';
import { freePort } from './port.js';
import { removeOnExit } from './reaper.js';
import { type ServerExit, ServerProcess } from './server-process.js';

/** How to run a server. */
export interface StartOptions {
  /** Where JetStream stores its data; created when missing, kept at the end. Default: temporary, removed at the end. */
  readonly storeDir?: string;
  /** Default: a free port, kept over restarts. */
  readonly port?: number;
  /** Text of a server configuration file; address, port and store directory are given apart and win over it. */
  readonly config?: string;
  /** Path of the binary. Default: what `resolveNatsServer()` finds or installs. */
  readonly binary?: string;
  /** Further environment of the server, e.g. `GOMEMLIMIT`. */
  readonly env?: NodeJS.ProcessEnv;
  /** Longest wait for readiness in milliseconds (recovery of a large store takes its time). Default 30 s. */
  readonly readyTimeoutMs?: number;
}

/** A running NATS server with JetStream on 127.0.0.1. It ends with this process at the latest. */
export interface NatsServer {
  readonly url: string;
  readonly port: number;
  /** Of the present run; another after a restart. */
  readonly pid: number;
  readonly version: string;
  readonly binary: string;
  readonly storeDir: string;
  /** The last lines the present run logged. */
  readonly log: string;
  /** Resolves when the present run has ended, for whatever reason. */
  readonly exited: Promise<ServerExit>;
  /** Ends the server in order and removes a temporary store. Safe to call twice. */
  stop(): Promise<void>;
  /** Sends a signal. A deadly one (`SIGKILL`, the default, `SIGTERM`, `SIGINT`, `SIGQUIT`) is waited for; the store stays for `restart`. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Runs the server again on the same port and store, after ending a run that is still there. Resolves when it is ready. */
  restart(): Promise<void>;
}

const READY_TIMEOUT_MS = 30_000;
const STOP_GRACE_MS = 5_000;
const PORT_ATTEMPTS = 5;
const DEADLY: readonly NodeJS.Signals[] = ['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGQUIT'];

/** Starts a NATS server with JetStream and resolves when a client can connect. */
export async function startNatsServer(options: StartOptions = {}): Promise<NatsServer> {
  const binary = options.binary ?? (await resolveNatsServer()).path;
  for (let attempt = 1; ; attempt++) {
    const server = new Server(binary, options, options.port ?? (await freePort()));
    try {
      await server.restart();
      return server;
    } catch (error) {
      await server.stop();
      // Between the check for a free port and the server's bind somebody else may have taken it.
      const taken = error instanceof NatsServerFailedError && error.message.includes('address already in use');
      if (!taken || options.port !== undefined || attempt === PORT_ATTEMPTS) throw error;
    }
  }
}

class Server implements NatsServer {
  readonly url: string;
  readonly storeDir: string;
  version = '';
  private readonly directory: string;
  private readonly keepDirectory: () => void;
  private readonly args: string[];
  private run: ServerProcess | undefined;

  constructor(
    readonly binary: string,
    private readonly options: StartOptions,
    readonly port: number,
  ) {
    this.url = `nats://127.0.0.1:${port}`;
    this.directory = mkdtempSync(join(tmpdir(), 'longrein-nats-'));
    this.keepDirectory = removeOnExit(this.directory);
    this.storeDir = options.storeDir ?? join(this.directory, 'store');
    this.args = ['-a', '127.0.0.1', '-p', String(port), '-js', '-sd', this.storeDir];
    if (options.config !== undefined) {
      const file = join(this.directory, 'nats.conf');
      writeFileSync(file, options.config, { mode: 0o600 });
      this.args.push('-c', file);
    }
  }

  get pid(): number {
    return this.current.pid;
  }

  get log(): string {
    return this.current.log;
  }

  get exited(): Promise<ServerExit> {
    return this.current.exited;
  }

  async restart(): Promise<void> {
    await this.run?.end(STOP_GRACE_MS);
    mkdirSync(this.storeDir, { recursive: true });
    this.run = new ServerProcess(this.binary, this.args, { ...process.env, ...this.options.env });
    const info = await this.run.ready(this.port, this.options.readyTimeoutMs ?? READY_TIMEOUT_MS);
    this.version = info.version;
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (DEADLY.includes(signal)) await this.current.endNow(signal);
    else this.current.signal(signal);
  }

  async stop(): Promise<void> {
    await this.run?.end(STOP_GRACE_MS);
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 3 });
    this.keepDirectory();
  }

  private get current(): ServerProcess {
    if (!this.run) throw new NatsServerFailedError(`the server on port ${this.port} was never started`);
    return this.run;
  }
}
