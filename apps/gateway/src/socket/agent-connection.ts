import { randomUUID } from 'node:crypto';
import type { Clock } from '@longrein/clock';
import { type SessionLog, isLogError } from '@longrein/log';
import type { Logger } from '@longrein/service';
import type { WebSocket } from 'ws';
import type { Limits } from '../auth/limits.js';
import type { Access } from '../auth/token-book.js';
import type { Capability } from '../auth/token-rules.js';
import type { LiveClient } from '../clients/live-clients.js';
import type { SocketLimits } from '../config.js';
import { type ClientFrame, isBadFrame, parseClientFrame } from '../protocol/client-frames.js';
import { CLOSE_CODES, FrameError, PROTOCOL, TOO_MANY, TRY_AGAIN_LATER } from '../protocol/server-frames.js';
import { type SessionCommands, asFrameError } from '../sessions/session-commands.js';
import { WebSocketSink } from './frame-sink.js';
import { Inbound } from './inbound.js';
import { keepAlive } from './keep-alive.js';
import { Outbound } from './outbound.js';
import type { Steering } from './steering.js';
import { runSubscription } from './subscription.js';

/** What connections share. */
export interface ConnectionDependencies {
  /** The log that subscriptions read: its reads take slots of the replay gate. */
  readonly replays: SessionLog;
  readonly commands: SessionCommands;
  readonly steering: Pick<Steering, 'take' | 'drop'>;
  readonly limits: SocketLimits;
  readonly tokenLimits: Limits;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'error'>;
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
export class AgentConnection implements LiveClient {
  readonly #id = randomUUID();
  readonly #outbound: Outbound;
  readonly #inbound: Inbound;
  readonly #ended = new AbortController();
  #subscription: AbortController | undefined;
  #knownSeq = -1;
  #leave = (): void => undefined;

  constructor(
    private readonly deps: ConnectionDependencies,
    private readonly socket: WebSocket,
    readonly agentId: string,
    readonly access: Access,
  ) {
    this.#outbound = new Outbound(new WebSocketSink(socket), deps.limits.outbound_bytes);
    this.#inbound = new Inbound(socket);
  }

  /** Greets and serves the client until the connection ends. */
  start(): void {
    const { socket, deps } = this;
    // Frames that arrive before the session is open wait behind its opening.
    this.#enqueue(0, () => this.#open());
    socket.on('message', (data, isBinary) => {
      const frame = data as Buffer;
      this.#enqueue(frame.length, () => this.#handle(frame, isBinary));
    });
    socket.on('error', () => socket.terminate());
    socket.on('close', () => this.#end());
    keepAlive(socket, deps.clock, deps.limits.ping_interval_ms, this.#ended.signal);
  }

  /** Ends the connection because its token is no longer good for it. */
  revoke(): void {
    void this.#fail(new FrameError('unauthorized', 'the token was revoked; connect with one that is in force'));
  }

  #enqueue(bytes: number, task: () => Promise<void>): void {
    void this.#inbound.push(bytes, async () => {
      if (this.#ended.signal.aborted) return;
      await task().catch((error: unknown) => this.#fail(error));
    });
  }

  async #open(): Promise<void> {
    const { commands, steering } = this.deps;
    const steers = this.access.capabilities.has('steer');
    try {
      this.deps.tokenLimits.take(this.access);
      this.#leave = this.deps.tokenLimits.enter(this.access, this.agentId);
      this.#knownSeq = steers ? (await commands.open(this.agentId)).last_seq : await commands.lastSeq(this.agentId);
    } catch (error) {
      await this.#refuse(error);
      return;
    }
    if (this.#ended.signal.aborted) return;
    if (steers) {
      steering.take(this.agentId, this.#id, () => {
        void this.#fail(new FrameError('superseded', 'a newer connection steers this agent'));
      });
    }
    this.#outbound.send({ type: 'hello', proto: PROTOCOL, session_id: this.agentId, last_seq: this.#knownSeq });
  }

  /** Nothing can be served without an open session, so that here every error ends the connection. */
  async #refuse(error: unknown): Promise<void> {
    if (isLogError(error, 'unknown_session')) {
      const message = `session ${this.agentId} does not exist; a token with the capability steer creates it`;
      await this.#fail(new FrameError('unauthorized', message));
      return;
    }
    await this.#fail(error);
    if (this.#ended.signal.aborted) return;
    this.#end();
    const tooMany = error instanceof FrameError && error.code === 'limit_exceeded';
    if (tooMany) this.socket.close(TOO_MANY, error.code);
    else this.socket.close(TRY_AGAIN_LATER, 'try again later');
  }

  async #handle(data: Buffer, isBinary: boolean): Promise<void> {
    this.deps.tokenLimits.take(this.access);
    const frame = parseClientFrame(data, isBinary);
    if (isBadFrame(frame)) throw new FrameError('bad_frame', frame.problem);
    const capability = NEEDS[frame.type];
    if (!this.access.capabilities.has(capability)) {
      const message = `${frame.type} needs the capability ${capability}, which this token does not have`;
      await this.#outbound.paced({ type: 'error', code: 'unauthorized', message });
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
        await commands.resolve({ ...this.#verdict(frame), verdict: 'approved' });
        return;
      case 'deny':
        await commands.resolve({ ...this.#verdict(frame), verdict: 'denied', reason: frame.reason });
        return;
      case 'set_policy':
        await commands.setPolicy(this.agentId, frame.patterns, this.access.name);
        return;
    }
  }

  #verdict({ call_id, request_seq }: { call_id: string; request_seq?: number | undefined }) {
    return { session_id: this.agentId, call_id, request_seq, by: this.access.name };
  }

  #subscribe(fromSeq: number): void {
    this.#subscription?.abort();
    const subscription = new AbortController();
    this.#subscription = subscription;
    const { replays: log, clock, limits } = this.deps;
    const onSeq = (seq: number): void => {
      this.#knownSeq = Math.max(this.#knownSeq, seq);
    };
    const deps = { log, clock, outbound: this.#outbound, replayLimit: limits.replay_events, onSeq };
    runSubscription(deps, this.agentId, fromSeq, subscription.signal).catch((error: unknown) => {
      if (!subscription.signal.aborted) void this.#fail(error);
    });
  }

  /** Tells the client, and ends the connection where the code says so. Resolves when a slow client has taken it. */
  async #fail(error: unknown): Promise<void> {
    if (this.#ended.signal.aborted) return;
    const known = asFrameError(error);
    if (known.code === 'internal') {
      this.deps.logger.error({ err: error, agent: this.agentId }, 'a connection failed');
    }
    const frame = { type: 'error', code: known.code, message: known.message };
    const closeCode = CLOSE_CODES[known.code];
    if (closeCode === undefined) {
      await this.#outbound.paced(frame);
      return;
    }
    this.#outbound.send(frame);
    this.#end();
    this.socket.close(closeCode, known.code);
  }

  #end(): void {
    this.#ended.abort();
    this.#subscription?.abort();
    this.#leave();
    this.deps.steering.drop(this.agentId, this.#id);
  }
}
