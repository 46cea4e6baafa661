import type { Clock } from '@longrein/clock';
import type { Msg, PermissionViolationError } from '@nats-io/nats-core';
import { LogError, type WireError } from '../port/index.js';
import { Backoff } from './backoff.js';
import type { RetryPolicy } from './requester.js';
import { onAbort } from './wakeup.js';

/** One request and how long it may take. */
export interface CallRequest {
  readonly subject: string;
  /** JSON. The same bytes on every try. */
  readonly body: string;
  /** For error messages, e.g. `append to s1`. */
  readonly what: string;
  readonly deadline_ms?: number;
  readonly signal?: AbortSignal;
  /** The answer to an earlier try is void once there was a later one: each try has an effect of its own. */
  readonly latest_only?: boolean;
}

/** What a call needs from its surroundings. */
export interface CallContext {
  readonly clock: Clock;
  readonly policy: RetryPolicy;
  readonly online: () => boolean;
  readonly send: (attempt: number) => void;
}

type Outcome = { readonly answer: unknown } | { readonly error: LogError } | { readonly silent: string };

const NO_RESPONDERS = 503;

/** The tries of one request. Ends with the best answer any of them gets; see `Requester`. */
export class Call {
  readonly #request: CallRequest;
  readonly #context: CallContext;
  readonly #backoff: Backoff;
  readonly #done = Promise.withResolvers<unknown>();
  /** `waiting` for an answer to the latest try, `choosing` whether a better one comes, `pausing` before the next. */
  #state: 'waiting' | 'choosing' | 'pausing' | 'offline' | 'ended' = 'pausing';
  #attempts = 0;
  #sawRetryable = false;
  /** A refusal that is final unless another try turns out to have succeeded. */
  #held: LogError | undefined;
  #last = 'no server connection';
  #cancelTimer: (() => void) | undefined;
  #cancelDeadline: (() => void) | undefined;

  constructor(request: CallRequest, context: CallContext) {
    this.#request = request;
    this.#context = context;
    const { first_backoff_ms, longest_backoff_ms } = context.policy;
    this.#backoff = new Backoff(first_backoff_ms, longest_backoff_ms);
  }

  async run(): Promise<unknown> {
    const { signal, deadline_ms = this.#context.policy.deadline_ms } = this.#request;
    const stopListening = onAbort(signal, () => this.fail(this.#aborted()));
    if (this.#state !== 'ended') {
      this.#cancelDeadline = this.#context.clock.setTimeout(() => this.#expired(deadline_ms), deadline_ms);
      this.#try();
    }
    try {
      return await this.#done.promise;
    } finally {
      stopListening();
    }
  }

  answered(msg: Msg, attempt: number): void {
    const current = attempt === this.#attempts;
    if (this.#state === 'ended' || (this.#request.latest_only && !current)) return;
    const outcome = readReply(msg);
    if ('answer' in outcome) {
      this.#end(() => this.#done.resolve(outcome.answer));
    } else if ('silent' in outcome) {
      if (!current || this.#state !== 'waiting') return;
      this.#last = outcome.silent;
      this.#pause();
    } else if (outcome.error.retryable) {
      this.#last = outcome.error.message;
      this.#sawRetryable = true;
      if (current && this.#state === 'waiting') this.#choose();
    } else if (this.#attempts === 1 && !this.#sawRetryable) {
      this.fail(outcome.error);
    } else {
      this.#held ??= outcome.error;
      this.#choose();
    }
  }

  disconnected(): void {
    if (this.#state === 'ended') return;
    this.#last = 'the connection was lost';
    this.#enter('offline');
  }

  reconnected(): void {
    if (this.#state === 'offline') this.#pause();
  }

  refused(error: PermissionViolationError): void {
    if (error.operation !== 'publish' || error.subject !== this.#request.subject) return;
    this.fail(
      new LogError('invalid_event', `${this.#request.what}: this connection may not publish to ${error.subject}`),
    );
  }

  fail(error: unknown): void {
    this.#end(() => this.#done.reject(error));
  }

  #try(): void {
    if (!this.#context.online()) return this.#enter('offline');
    const { try_timeout_ms } = this.#context.policy;
    this.#attempts++;
    this.#enter('waiting', try_timeout_ms, () => {
      this.#last = `no answer within ${try_timeout_ms} ms`;
      this.#pause();
    });
    try {
      this.#context.send(this.#attempts);
    } catch (error) {
      this.#last = (error as Error).message;
      this.#pause();
    }
  }

  #choose(): void {
    this.#enter('choosing', this.#context.policy.grace_ms, () => {
      if (this.#held) this.fail(this.#held);
      else this.#pause();
    });
  }

  #pause(): void {
    this.#enter('pausing', this.#backoff.next(), () => this.#try());
  }

  #enter(state: 'waiting' | 'choosing' | 'pausing' | 'offline', milliseconds?: number, then?: () => void): void {
    if (this.#state === 'ended') return;
    this.#cancelTimer?.();
    this.#state = state;
    this.#cancelTimer =
      milliseconds === undefined || !then ? undefined : this.#context.clock.setTimeout(then, milliseconds);
  }

  #expired(deadline_ms: number): void {
    const { what, subject } = this.#request;
    const message = `${what}: no final answer on ${subject} within ${deadline_ms} ms and ${this.#attempts} tries (${this.#last})`;
    this.fail(this.#held ?? new LogError('unavailable', message));
  }

  #aborted(): LogError {
    const effect = this.#attempts === 0 ? 'before it was sent' : 'while its outcome was open';
    return new LogError('unavailable', `${this.#request.what}: aborted by the caller ${effect}`);
  }

  #end(settle: () => void): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.#cancelTimer?.();
    this.#cancelDeadline?.();
    settle();
  }
}

function readReply(msg: Msg): Outcome {
  if (msg.headers?.code === NO_RESPONDERS && msg.data.length === 0) return { silent: 'nobody serves this subject' };
  let reply: unknown;
  try {
    reply = msg.json();
  } catch {
    return { silent: 'the answer was not JSON' };
  }
  if (typeof reply !== 'object' || reply === null) return { silent: 'the answer was not an object' };
  if ('error' in reply) return { error: LogError.fromWire(reply.error as WireError) };
  return { answer: reply };
}
