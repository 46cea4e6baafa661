import type { Clock } from '@longrein/clock';
import { type Msg, type NatsConnection, type Subscription, createInbox } from '@nats-io/nats-core';
import { LogError } from '../port/index.js';
import { Call, type CallRequest } from './call.js';
import { ConnectionWatch } from './connection-watch.js';

/** How requests are repeated. */
export interface RetryPolicy {
  /** Total time of a call when its options say nothing. */
  readonly deadline_ms: number;
  /** Silence after which a request is sent again. */
  readonly try_timeout_ms: number;
  /** How long an answer that is not final waits for a better one, from another replica or to another try. */
  readonly grace_ms: number;
  readonly first_backoff_ms: number;
  readonly longest_backoff_ms: number;
}

export const DEFAULT_RETRY: RetryPolicy = {
  deadline_ms: 30_000,
  try_timeout_ms: 3_000,
  grace_ms: 30,
  first_backoff_ms: 20,
  longest_backoff_ms: 1_000,
};

/**
 * Sends requests whose repetition is harmless, until one of the tries is answered for good. One inbox serves all calls,
 * and every answer to any try of a call reaches it: a late success still counts, and a replica that says `moved` does
 * not hide the owner's answer behind it.
 */
export class Requester {
  readonly #nc: NatsConnection;
  readonly #watch: ConnectionWatch;
  readonly #inbox: string;
  readonly #calls = new Map<string, Call>();
  readonly #stopListening: () => void;
  #replies: Subscription | undefined;
  #nextId = 0;
  #closed = false;

  constructor(
    nc: NatsConnection,
    private readonly clock: Clock,
    private readonly policy: RetryPolicy = DEFAULT_RETRY,
    inboxPrefix?: string,
  ) {
    this.#nc = nc;
    this.#watch = ConnectionWatch.of(nc);
    this.#inbox = createInbox(inboxPrefix);
    this.#stopListening = this.#watch.listen({
      disconnected: () => this.#each((call) => call.disconnected()),
      reconnected: () => this.#each((call) => call.reconnected()),
      closed: () => this.#each((call) => call.fail(connectionClosed())),
      refused: (error) => this.#each((call) => call.refused(error)),
    });
  }

  /** Calls that have no answer yet. */
  get pending(): number {
    return this.#calls.size;
  }

  /** Resolves with the first success; rejects with the log's refusal, or `unavailable` at the deadline. */
  async call<Answer>(request: CallRequest): Promise<Answer> {
    if (this.#closed || this.#nc.isClosed()) throw connectionClosed();
    const limit = this.#nc.info?.max_payload;
    const bytes = Buffer.byteLength(request.body);
    if (limit !== undefined && bytes > limit) {
      throw new LogError(
        'too_large',
        `${request.what}: ${bytes} bytes exceed the server's limit of ${limit}; send less at once`,
      );
    }
    this.#replies ??= this.#nc.subscribe(`${this.#inbox}.>`, { callback: (_, msg) => this.#route(msg) });
    const id = String(this.#nextId++);
    const call = new Call(request, {
      clock: this.clock,
      policy: this.policy,
      online: () => this.#watch.connected,
      send: (attempt) => this.#nc.publish(request.subject, request.body, { reply: `${this.#inbox}.${id}.${attempt}` }),
    });
    this.#calls.set(id, call);
    try {
      return (await call.run()) as Answer;
    } finally {
      this.#calls.delete(id);
    }
  }

  /** Fails what is pending and gives up the inbox. */
  close(): void {
    this.#closed = true;
    this.#stopListening();
    this.#each((call) => call.fail(connectionClosed()));
    if (this.#replies && !this.#nc.isClosed()) this.#replies.unsubscribe();
  }

  #route(msg: Msg): void {
    const [id, attempt] = msg.subject.slice(this.#inbox.length + 1).split('.');
    this.#calls.get(id ?? '')?.answered(msg, Number(attempt));
  }

  #each(action: (call: Call) => void): void {
    for (const call of [...this.#calls.values()]) action(call);
  }
}

function connectionClosed(): LogError {
  return new LogError('unavailable', 'the connection to NATS is closed');
}
