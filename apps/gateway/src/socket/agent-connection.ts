import { randomUUID } from 'node:crypto';
import type { SessionLog } from '@longrein/log';
import type { Logger } from '@longrein/service';
import type { WebSocket } from 'ws';
import type { Access, Capability } from '../auth/token-book.js';
import type { SocketLimits } from '../config.js';
import { type ClientFrame, isBadFrame, parseClientFrame } from '../protocol/client-frames.js';
import { CLOSE_CODES, FrameError, PROTOCOL } from '../protocol/server-frames.js';
import { type SessionCommands, asFrameError } from '../sessions/session-commands.js';
import { Outbound } from './outbound.js';
import type { ReplayGate } from './replay-gate.js';
import type { Steering } from './steering.js';
import { runSubscription } from './subscription.js';

/** What connections share. */
export interface ConnectionDependencies {
  readonly log: SessionLog;
  readonly commands: SessionCommands;
  readonly steering: Steering;
  readonly gate: ReplayGate;
  readonly limits: SocketLimits;
  readonly logger: Logger;
}

/** Capability each frame needs. */
const NEEDS: Readonly<Record<ClientFrame['type'], Capability>> = {
  subscribe: 'read',
  inject: 'steer',
  cancel: 'steer',
  approve: 'approve',
  deny: 'approve',
  set_model: 'model',
  set_policy: 'policy',
};

/** One client at one agent's session. Whatever happens here ends this connection at most, never an append or a turn. */
export class AgentConnection {
  readonly #id = randomUUID();
  readonly #outbound: Outbound;
  readonly #ended = new AbortController();
  #subscription: AbortController | undefined;
  /** Frames are handled one after another, in the order they came. */
  #handled: Promise<void> = Promise.resolve();
  #knownSeq = -1;

  constructor(
    private readonly deps: ConnectionDependencies,
    private readonly socket: WebSocket,
    private readonly agentId: string,
    private readonly access: Access,
  ) {
    this.#outbound = new Outbound(socket, deps.limits.outbound_bytes);
  }

  /** Greets and serves the client until the connection ends. */
  start(): void {
    const { socket } = this;
    // Frames that arrive before the session is open wait behind its opening.
    this.#enqueue(() => this.#open());
    socket.on('message', (data, isBinary) => this.#enqueue(() => this.#handle(data as Buffer, isBinary)));
    socket.on('error', () => socket.terminate());
    socket.on('close', () => this.#end());
    this.#ping();
  }

  #enqueue(task: () => Promise<void>): void {
    this.#handled = this.#handled.then(async () => {
      if (this.#ended.signal.aborted) return;
      await task().catch((error: unknown) => this.#fail(error));
    });
  }

  async #open(): Promise<void> {
    const { commands, log, steering } = this.deps;
    const steers = this.access.capabilities.has('steer');
    const { last_seq } = steers
      ? await commands.open(this.agentId)
      : await log.read(this.agentId, { from_seq: 0, limit: 1 });
    this.#knownSeq = last_seq;
    if (steers)
      steering.take(this.agentId, this.#id, () =>
        this.#fail(new FrameError('superseded', 'a newer connection steers this agent')),
      );
    this.#outbound.send({ type: 'hello', proto: PROTOCOL, session_id: this.agentId, last_seq });
  }

  async #handle(data: Buffer, isBinary: boolean): Promise<void> {
    const frame = parseClientFrame(data, isBinary);
    if (isBadFrame(frame)) throw new FrameError('bad_frame', frame.problem);
    const capability = NEEDS[frame.type];
    if (!this.access.capabilities.has(capability)) {
      this.#outbound.send({ type: 'error', code: 'unauthorized', message: `${frame.type} needs ${capability}` });
      return;
    }
    await this.#act(frame);
  }

  async #act(frame: ClientFrame): Promise<void> {
    const { commands } = this.deps;
    switch (frame.type) {
      case 'subscribe':
        this.#subscribe(frame.from_seq);
        return;
      case 'inject':
        await commands.inject(this.agentId, frame, this.#knownSeq);
        return;
      case 'cancel':
        await commands.cancel(this.agentId, frame.reason);
        return;
      case 'set_model':
        await commands.setModel(this.agentId, frame.role, frame.model, this.#knownSeq);
        return;
      case 'approve':
      case 'deny':
        throw new FrameError('unsupported', 'no approvals service is deployed');
      case 'set_policy':
        throw new FrameError('unsupported', 'no policy service is deployed');
    }
  }

  #subscribe(fromSeq: number): void {
    this.#subscription?.abort();
    const subscription = new AbortController();
    this.#subscription = subscription;
    const { log, gate, limits } = this.deps;
    const onSeq = (seq: number): void => {
      this.#knownSeq = Math.max(this.#knownSeq, seq);
    };
    const deps = { log, gate, outbound: this.#outbound, replayLimit: limits.replay_events, onSeq };
    runSubscription(deps, this.agentId, fromSeq, subscription.signal).catch((error: unknown) => {
      if (!subscription.signal.aborted) this.#fail(error);
    });
  }

  #fail(error: unknown): void {
    if (this.#ended.signal.aborted) return;
    const known = asFrameError(error);
    if (known.code === 'internal') {
      this.deps.logger.error({ err: error, agent: this.agentId }, 'a connection failed');
    }
    this.#outbound.send({ type: 'error', code: known.code, message: known.message });
    const closeCode = CLOSE_CODES[known.code];
    if (closeCode === undefined) return;
    this.#end();
    this.socket.close(closeCode, known.code);
  }

  #ping(): void {
    let answered = true;
    this.socket.on('pong', () => {
      answered = true;
    });
    const timer = setInterval(() => {
      if (!answered) {
        this.socket.terminate();
        return;
      }
      answered = false;
      this.socket.ping();
    }, this.deps.limits.ping_interval_ms);
    this.#ended.signal.addEventListener('abort', () => clearInterval(timer));
  }

  #end(): void {
    this.#ended.abort();
    this.#subscription?.abort();
    this.deps.steering.drop(this.agentId, this.#id);
  }
}
