import { type ChildProcess, spawn } from 'node:child_process';
import { NatsServerFailedError } from '../errors.js';
import { probe, type ServerInfo } from './probe.js';
import { boundToParent, killOnExit } from './reaper.js';

/** How a server process ended. */
export interface ServerExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const LISTENING = 'Listening for client connections on ';
const LOG_TAIL_CHARACTERS = 64 * 1024;

/** One run of the server's binary: from its start to its exit. */
export class ServerProcess {
  readonly pid: number;
  readonly exited: Promise<ServerExit>;
  private readonly child: ChildProcess;
  private readonly listening: Promise<boolean>;
  private tail = '';
  private ended = false;

  constructor(
    private readonly binary: string,
    args: readonly string[],
    env: NodeJS.ProcessEnv,
  ) {
    const [command, commandArgs] = boundToParent(binary, args);
    // Its own process group: Ctrl-C on the terminal reaches this process only, which then stops the server in order.
    this.child = spawn(command, commandArgs, { stdio: ['ignore', 'ignore', 'pipe'], detached: true, env });
    if (this.child.pid === undefined) {
      this.child.on('error', () => undefined);
      throw new NatsServerFailedError(`${binary} could not be started: check that it is there and may be executed`);
    }
    this.pid = this.child.pid;
    const lift = killOnExit(this.pid);
    this.exited = new Promise((resolve) => {
      this.child.once('exit', (code, signal) => {
        this.ended = true;
        lift();
        resolve({ code, signal });
      });
    });
    this.listening = new Promise((resolve) => {
      this.child.stderr!.setEncoding('utf8').on('data', (text: string) => {
        this.tail = (this.tail + text).slice(-LOG_TAIL_CHARACTERS);
        if (this.tail.includes(LISTENING)) resolve(true);
      });
      this.child.stderr!.once('close', () => resolve(false));
    });
  }

  /** Whether the process has ended. */
  get gone(): boolean {
    return this.ended;
  }

  /** The last lines the server logged. */
  get log(): string {
    return this.tail;
  }

  /** Resolves once a client can connect to `port`; rejects when the server ends first or takes longer than `timeoutMs`. */
  async ready(port: number, timeoutMs: number): Promise<ServerInfo> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(this.failure(`was not ready after ${timeoutMs} ms`)), timeoutMs);
    });
    try {
      if (!(await Promise.race([this.listening, late]))) {
        const { code, signal } = await this.exited;
        throw this.failure(`ended (${signal ?? `code ${code}`}) before it was ready`);
      }
      const info = await Promise.race([probe(port, timeoutMs), late]);
      this.letParentExit();
      return info;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Sends `signal` to the process, if it still runs. */
  signal(signal: NodeJS.Signals): void {
    if (!this.ended) process.kill(this.pid, signal);
  }

  /** Ends the process and waits until it is gone: politely, and by force after `graceMs`. */
  async end(graceMs: number): Promise<ServerExit> {
    this.child.ref();
    if (!this.ended) {
      this.signal('SIGTERM');
      // A process that was stopped (SIGSTOP) would never see the request.
      this.signal('SIGCONT');
    }
    const force = setTimeout(() => this.signal('SIGKILL'), graceMs);
    try {
      return await this.exited;
    } finally {
      clearTimeout(force);
    }
  }

  /** Kills the process and waits until it is gone. */
  async endNow(signal: NodeJS.Signals = 'SIGKILL'): Promise<ServerExit> {
    this.child.ref();
    this.signal(signal);
    return this.exited;
  }

  /** A running server is no reason for this process to stay: whoever forgets to stop it must still be able to end. */
  private letParentExit(): void {
    this.child.unref();
    (this.child.stderr as unknown as { unref(): void }).unref();
  }

  private failure(what: string): NatsServerFailedError {
    return new NatsServerFailedError(`${this.binary} ${what}. Its log ends:\n${this.tail.slice(-4_000)}`);
  }
}
