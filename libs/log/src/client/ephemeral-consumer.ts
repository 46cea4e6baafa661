import type { Clock } from '@longrein/clock';
import { type Msg, type NatsConnection, type Subscription, createInbox, nuid } from '@nats-io/nats-core';
import { JetStreamError, type StreamApi } from '../jetstream/stream-api.js';
import type { ConnectionWatch } from './connection-watch.js';
import type { ConsumeLimits } from './partition-consumer.js';
import { Wakeup, onAbort } from './wakeup.js';

/** A message as a consumer delivers it. */
export interface StreamMessage {
  readonly subject: string;
  readonly sequence: number;
  /** Empty where the header is absent. */
  readonly header: (name: string) => string;
  readonly json: <T>() => T;
}

/** The consumer is of no use any more: make another. */
export class ConsumerTrouble extends Error {
  override readonly name = 'ConsumerTrouble';
}

/** What a consumer works with. */
export interface ConsumerDeps {
  readonly nc: NatsConnection;
  readonly api: StreamApi;
  readonly clock: Clock;
  readonly limits: ConsumeLimits;
  readonly watch: ConnectionWatch;
  readonly inboxPrefix?: string | undefined;
}

/** What a consumer delivers. */
export interface ConsumerSpec {
  readonly stream: string;
  readonly filter: string | undefined;
  /** Everything behind this sequence; absent: everything. */
  readonly after: number | undefined;
}

const NANOS = 1_000_000;
const PULL_EXPIRES_MS = 30_000;
const MISSED_HEARTBEATS = 3;
/** A pull ended in the ordinary way: its time was up, or what it asked for has been sent. */
const PULL_ENDED = /batch completed|maxbytes|max bytes/i;

/**
 * A pull consumer without acknowledgements that lives as long as nothing goes wrong. Spoken in the JetStream API's own
 * JSON, because the client library's counterpart needs a newer server than the oldest supported. Messages come in
 * order and without loss, or `next` throws `ConsumerTrouble`. One pull is on its way at a time.
 */
export class EphemeralConsumer {
  readonly #queue: { message: StreamMessage; bytes: number }[] = [];
  readonly #wakeup = new Wakeup();
  readonly #subscription: Subscription;
  readonly #inbox: string;
  readonly #stopListening: () => void;
  #trouble: ConsumerTrouble | undefined;
  #idle = false;
  #pull = 0;
  #outstanding = 0;
  #delivered = 0;
  #averageBytes = 512;
  #queuedBytes = 0;
  #cancelWatchdog: (() => void) | undefined;
  #lastHeard = 0;

  private constructor(
    private readonly deps: ConsumerDeps,
    private readonly spec: ConsumerSpec,
    private readonly name: string,
  ) {
    this.#inbox = createInbox(deps.inboxPrefix);
    this.#subscription = deps.nc.subscribe(`${this.#inbox}.*`, {
      callback: (error, msg) => (error ? this.#fail(error.message) : this.#received(msg)),
    });
    this.#stopListening = deps.watch.listen({
      disconnected: () => this.#fail('the connection was lost'),
      closed: () => this.#fail('the connection is closed'),
    });
  }

  static async create(deps: ConsumerDeps, spec: ConsumerSpec): Promise<EphemeralConsumer> {
    const name = `lr_${nuid.next()}`;
    const { stream, filter, after } = spec;
    const start =
      after === undefined
        ? { deliver_policy: 'all' }
        : { deliver_policy: 'by_start_sequence', opt_start_seq: after + 1 };
    const config = {
      name,
      ...start,
      ...(filter === undefined ? {} : { filter_subject: filter }),
      ack_policy: 'none',
      replay_policy: 'instant',
      inactive_threshold: deps.limits.inactive_threshold_ms * NANOS,
      num_replicas: 1,
      mem_storage: true,
    };
    const subject = `CONSUMER.CREATE.${stream}.${name}${filter === undefined ? '' : `.${filter}`}`;
    try {
      await deps.api.request(subject, { stream_name: stream, config });
      return new EphemeralConsumer(deps, spec, name);
    } catch (error) {
      if (error instanceof JetStreamError) throw new ConsumerTrouble(`${stream}: ${error.message}`);
      throw error;
    }
  }

  /** Asks for the first messages. */
  start(): void {
    this.#heard();
    this.#ask();
  }

  /**
   * The next message; `idle` when the server says that it has none for now; `ended` when the signal aborts. Throws
   * `ConsumerTrouble`, dropping what was not taken yet: another consumer delivers it again.
   */
  async next(signal?: AbortSignal): Promise<StreamMessage | 'idle' | 'ended'> {
    const stopListening = onAbort(signal, () => this.#wakeup.wake());
    try {
      for (;;) {
        if (signal?.aborted) return 'ended';
        if (this.#trouble) throw this.#trouble;
        const entry = this.#queue.shift();
        if (entry) {
          this.#queuedBytes -= entry.bytes;
          this.#ask();
          return entry.message;
        }
        if (this.#idle) {
          this.#idle = false;
          return 'idle';
        }
        await this.#wakeup.wait(this.deps.clock);
      }
    } finally {
      stopListening();
    }
  }

  /** Leaves the server nothing to keep, as far as it can be reached. */
  close(): void {
    this.#fail('closed');
    if (this.deps.nc.isClosed()) return;
    this.#subscription.unsubscribe();
    if (this.deps.watch.connected) {
      this.deps.nc.publish(`$JS.API.CONSUMER.DELETE.${this.spec.stream}.${this.name}`);
    }
  }

  #received(msg: Msg): void {
    if (this.#trouble) return;
    this.#heard();
    const status = msg.subject.startsWith(this.#inbox) ? (msg.headers?.code ?? 0) : 0;
    if (status !== 0) return this.#status(msg, status);
    const place = parsePlace(msg.reply ?? '');
    if (!place) return this.#fail(`a message without a place: ${msg.subject}`);
    if (place.consumerSequence !== this.#delivered + 1) {
      return this.#fail(`message ${place.consumerSequence} came after ${this.#delivered}: some were lost on the way`);
    }
    this.#delivered++;
    this.#outstanding--;
    const bytes = msg.data.length;
    this.#averageBytes += (bytes - this.#averageBytes) / 64;
    this.#queuedBytes += bytes;
    const { sequence } = place;
    const header = (name: string): string => msg.headers?.get(name) ?? '';
    const message = { subject: msg.subject, sequence, header, json: <T>() => msg.json<T>() };
    this.#queue.push({ message, bytes });
    this.#idle = false;
    this.#ask();
    this.#wakeup.wake();
  }

  #status(msg: Msg, status: number): void {
    if (msg.subject !== `${this.#inbox}.${this.#pull}`) return;
    const text = msg.headers?.description ?? '';
    if (status === 100) {
      this.#idle = this.#queue.length === 0;
      this.#wakeup.wake();
    } else if (status === 404 || status === 408 || (status === 409 && PULL_ENDED.test(text))) {
      this.#outstanding = 0;
      this.#ask();
    } else {
      this.#fail(`${status} ${text}`);
    }
  }

  /** Pulls when nothing is on its way and half of the buffer is free. */
  #ask(): void {
    const { nc, limits } = this.deps;
    if (this.#trouble || this.#outstanding > 0 || this.#queue.length > limits.buffered_messages / 2) return;
    const affordable = Math.floor((limits.buffered_bytes - this.#queuedBytes) / Math.max(1, this.#averageBytes));
    const batch = Math.min(limits.buffered_messages - this.#queue.length, affordable);
    if (batch < 1 && this.#queue.length > 0) return;
    this.#outstanding = Math.max(1, batch);
    this.#pull++;
    const request = {
      batch: this.#outstanding,
      expires: PULL_EXPIRES_MS * NANOS,
      idle_heartbeat: limits.heartbeat_ms * NANOS,
    };
    this.#heard();
    try {
      nc.publish(`$JS.API.CONSUMER.MSG.NEXT.${this.spec.stream}.${this.name}`, JSON.stringify(request), {
        reply: `${this.#inbox}.${this.#pull}`,
      });
    } catch (error) {
      this.#fail((error as Error).message);
    }
  }

  #heard(): void {
    this.#lastHeard = this.deps.clock.now();
    if (!this.#cancelWatchdog) this.#watch(this.#patience);
  }

  get #patience(): number {
    return MISSED_HEARTBEATS * this.deps.limits.heartbeat_ms;
  }

  #watch(milliseconds: number): void {
    const check = (): void => {
      this.#cancelWatchdog = undefined;
      if (this.#trouble || this.#outstanding === 0) return;
      const silence = this.deps.clock.now() - this.#lastHeard;
      if (silence >= this.#patience) this.#fail(`no sign of life for ${Math.round(silence)} ms`);
      else this.#watch(this.#patience - silence);
    };
    this.#cancelWatchdog = this.deps.clock.setTimeout(check, milliseconds);
  }

  #fail(reason: string): void {
    if (this.#trouble) return;
    this.#trouble = new ConsumerTrouble(`consumer of ${this.spec.stream}: ${reason}`);
    this.#stopListening();
    this.#cancelWatchdog?.();
    this.#queue.length = 0;
    this.#wakeup.wake();
  }
}

/** Reads where a message is from the reply subject that the server gave it, in its old or its new form. */
function parsePlace(reply: string): { sequence: number; consumerSequence: number } | undefined {
  const tokens = reply.split('.');
  if (tokens[0] !== '$JS' || tokens[1] !== 'ACK') return undefined;
  const at = tokens.length === 9 ? 5 : 7;
  const [sequence, consumerSequence] = tokens.slice(at, at + 2).map(Number);
  return sequence === undefined || consumerSequence === undefined ? undefined : { sequence, consumerSequence };
}
