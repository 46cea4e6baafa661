import type { ServerResponse } from 'node:http';
import type { Clock } from '@longrein/clock';
import type { SessionLog } from '@longrein/log';
import type { Logger } from '@longrein/service';
import type { Limits } from '../auth/limits.js';
import type { Access } from '../auth/token-book.js';
import type { LiveClient, LiveClients } from '../clients/live-clients.js';
import type { SocketLimits } from '../config.js';
import { FrameError, PROTOCOL } from '../protocol/server-frames.js';
import { asFrameError } from '../sessions/session-commands.js';
import { Outbound } from '../socket/outbound.js';
import { runSubscription } from '../socket/subscription.js';
import { SseSink } from './sse-sink.js';

/** What event streams share. */
export interface EventStreamDependencies {
  /** Its reads take slots of the replay gate. */
  readonly replays: SessionLog;
  readonly limits: SocketLimits;
  readonly tokenLimits: Limits;
  readonly clients: LiveClients;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'error'>;
}

/** What one client wants to follow. */
export interface EventStreamRequest {
  readonly sessionId: string;
  readonly fromSeq: number;
  /** The session's end, already known to exist. */
  readonly lastSeq: number;
  readonly access: Access;
}

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  // Proxies that collect a response before they pass it on would hold back the tail.
  'x-accel-buffering': 'no',
};

/** Clients that follow sessions over HTTP, under the bounds of sockets. */
export class EventStreams {
  readonly #open = new Set<EventStream>();

  constructor(private readonly deps: EventStreamDependencies) {}

  /** Serves a client until it leaves. Throws `LimitExceeded` before anything was sent. */
  serve(response: ServerResponse, request: EventStreamRequest): void {
    const leave = this.deps.tokenLimits.enter(request.access, request.sessionId);
    const stream = new EventStream(this.deps, response, request);
    const forget = this.deps.clients.add(stream);
    this.#open.add(stream);
    response.on('close', () => {
      this.#open.delete(stream);
      stream.stop();
      forget();
      leave();
    });
    stream.start();
  }

  /** Ends every stream: clients reconnect, to another replica. */
  stop(): void {
    for (const stream of this.#open) stream.end();
  }
}

class EventStream implements LiveClient {
  readonly #sink: SseSink;
  readonly #outbound: Outbound;
  readonly #stopped = new AbortController();
  #cancelBeat = (): void => undefined;

  constructor(
    private readonly deps: EventStreamDependencies,
    private readonly response: ServerResponse,
    private readonly request: EventStreamRequest,
  ) {
    this.#sink = new SseSink(response);
    this.#outbound = new Outbound(this.#sink, deps.limits.outbound_bytes);
  }

  get agentId(): string {
    return this.request.sessionId;
  }

  get access(): Access {
    return this.request.access;
  }

  start(): void {
    const { deps, request } = this;
    this.response.on('error', () => this.response.destroy());
    this.response.writeHead(200, HEADERS);
    this.#outbound.send({ type: 'hello', proto: PROTOCOL, session_id: request.sessionId, last_seq: request.lastSeq });
    this.#beat();
    const subscription = {
      log: deps.replays,
      clock: deps.clock,
      outbound: this.#outbound,
      replayLimit: deps.limits.replay_events,
      onSeq: () => undefined,
    };
    runSubscription(subscription, request.sessionId, request.fromSeq, this.#stopped.signal).catch((error: unknown) => {
      if (!this.#stopped.signal.aborted) this.#fail(error);
    });
  }

  revoke(): void {
    this.#fail(new FrameError('unauthorized', 'the token was revoked; connect with one that is in force'));
  }

  end(): void {
    this.stop();
    this.#sink.end();
  }

  stop(): void {
    this.#stopped.abort();
    this.#cancelBeat();
  }

  /** Keeps proxies from taking a quiet session for a dead connection, and finds out about clients that vanished. */
  #beat(): void {
    const { clock, limits } = this.deps;
    this.#cancelBeat = clock.setTimeout(() => {
      this.#sink.comment('still here');
      this.#beat();
    }, limits.ping_interval_ms);
  }

  #fail(error: unknown): void {
    const { code, message } = asFrameError(error);
    if (code === 'internal') this.deps.logger.error({ err: error, agent: this.agentId }, 'an event stream failed');
    this.#outbound.send({ type: 'error', code, message });
    this.end();
  }
}
