import { type MsgHdrs, type NatsConnection, type Msg, type Subscription, createInbox } from '@nats-io/nats-core';
import { LogError } from '../port/index.js';
import { HEADER } from './names.js';
import { JetStreamError, type StreamApi } from './stream-api.js';

/** A message to store. Its place in the stream is known when it is handed over. */
export interface Outgoing {
  readonly subject: string;
  readonly messageId: string;
  /** Further header lines, each ending in CRLF. */
  readonly headers: string;
  readonly body: string;
}

/** Why a pipeline ended. */
export type PipelineEnd =
  /** Another owner opened the partition. */
  | 'fenced'
  /** The stream ends below what it had acknowledged. */
  | 'lost_data'
  | 'stopped';

/** Settings of a pipeline; all have defaults. */
export interface PipelineOptions {
  /** Unacknowledged messages and bytes on the wire. */
  readonly window?: number;
  readonly window_bytes?: number;
  /** Messages waiting behind the window before appends are refused. */
  readonly queue?: number;
  /** How long an acknowledgement may take before its outcome counts as unknown. */
  readonly ack_timeout_ms?: number;
}

interface Entry extends Outgoing {
  readonly sequence: number;
  sentAt: number;
  acked: boolean;
  waiters: { resolve: () => void; reject: (error: LogError) => void }[];
}

type State = 'open' | 'recovering' | 'ended';

const WRONG_LAST_SEQUENCE = new Set([10071, 10164]);
/** Insufficient resources, and a stream's message, byte and account limits. */
const STORAGE_FULL = new Set([10023, 10047, 10077, 10122]);
const STORAGE_FULL_TEXT = /maximum (bytes|messages)|insufficient (storage )?resources|no space/i;

/**
 * Stores messages at consecutive sequences of one stream. Every message carries the sequence it must follow, and every
 * message sent behind an unacknowledged one also the id of that one. So many can be on the wire at once without a gap
 * or a reorder: when one is refused, so is every one behind it. The sequence alone would not do: another owner's first
 * event can land exactly where a message was refused, and the messages behind that one would fit again. An answer that
 * leaves the outcome open (refused, late, duplicate, disconnected) stops the pipeline until the leader's stream has been
 * compared with what was sent.
 */
export class Pipeline {
  readonly #nc: NatsConnection;
  readonly #api: StreamApi;
  readonly #stream: string;
  readonly #term: string;
  readonly #limits: Required<PipelineOptions>;
  readonly #inbox: string;
  readonly #acks: Subscription;
  readonly #watchdog: NodeJS.Timeout;
  readonly #onEnd: (end: PipelineEnd, error: LogError) => void;
  readonly #onReset: (error: LogError) => void;

  #state: State = 'open';
  #end: LogError | undefined;
  /** Entries from the first one not known to be stored. `#sent` of them are on the wire. */
  #entries: Entry[] = [];
  #sent = 0;
  #sentBytes = 0;
  /** Counts recoveries: refusals of messages sent before the last one say nothing about those sent since. */
  #round = 0;
  #acknowledged: number;
  #fullAt: number | undefined;

  /**
   * @param last sequence of the event that opened the partition; everything follows it
   * @param onEnd told once when the partition is no longer ours to write
   * @param onReset told when appends were refused but the pipeline goes on: what was decided on top of them is void
   */
  constructor(
    deps: { nc: NatsConnection; api: StreamApi },
    stream: string,
    term: string,
    last: number,
    handlers: { onEnd: (end: PipelineEnd, error: LogError) => void; onReset: (error: LogError) => void },
    options: PipelineOptions = {},
  ) {
    this.#nc = deps.nc;
    this.#api = deps.api;
    this.#stream = stream;
    this.#term = term;
    this.#acknowledged = last;
    this.#onEnd = handlers.onEnd;
    this.#onReset = handlers.onReset;
    this.#limits = {
      window: options.window ?? 1024,
      window_bytes: options.window_bytes ?? 8 * 1024 * 1024,
      queue: options.queue ?? 8192,
      ack_timeout_ms: options.ack_timeout_ms ?? 2_000,
    };
    this.#inbox = createInbox();
    this.#acks = this.#nc.subscribe(`${this.#inbox}.*.*`, { callback: (_, msg) => this.#onAck(msg) });
    this.#watchdog = setInterval(() => this.#checkLateness(), Math.max(50, this.#limits.ack_timeout_ms / 4));
    this.#watchdog.unref();
  }

  /** Sequence the next message will get. */
  get next(): number {
    return this.#acknowledged + this.#entries.length + 1;
  }

  /** Everything up to this sequence is stored. */
  get acknowledged(): number {
    return this.#acknowledged;
  }

  /** Hands over messages for the sequences from `next` on. Throws `unavailable` when too many wait, `moved` when ended. */
  submit(messages: readonly Outgoing[]): void {
    if (this.#end) throw this.#end;
    if (this.#entries.length - this.#sent + messages.length > this.#limits.queue) {
      throw new LogError('unavailable', `${this.#stream}: ${this.#entries.length} messages wait to be stored; retry`);
    }
    let sequence = this.next;
    for (const message of messages) {
      this.#entries.push({ ...message, sequence: sequence++, sentAt: 0, acked: false, waiters: [] });
    }
    this.#pump();
  }

  /** Resolves when everything up to the sequence is stored; rejects when that can no longer happen. */
  settled(sequence: number): Promise<void> {
    if (sequence <= this.#acknowledged) return Promise.resolve();
    if (this.#end) return Promise.reject(this.#end);
    const entry = this.#entries[sequence - this.#acknowledged - 1];
    if (!entry) return Promise.reject(new LogError('moved', `${this.#stream}: sequence ${sequence} was given up`));
    return new Promise((resolve, reject) => entry.waiters.push({ resolve, reject }));
  }

  /** Compares the leader's stream with what is believed stored, e.g. after a reconnect. Resolves once that is known. */
  async verify(): Promise<void> {
    if (this.#end) throw this.#end;
    await this.#recover();
    if (this.#end) throw this.#end;
  }

  /** Ends the pipeline. Messages whose outcome is unknown are answered `moved`. */
  stop(): void {
    this.#finish('stopped', new LogError('moved', `${this.#stream}: this replica gave the partition up`));
  }

  #pump(): void {
    if (this.#state !== 'open') return;
    const now = performance.now();
    while (
      this.#sent < this.#entries.length &&
      this.#sent < this.#limits.window &&
      this.#sentBytes < this.#limits.window_bytes
    ) {
      const entry = this.#entries[this.#sent++]!;
      this.#sentBytes += entry.body.length;
      entry.sentAt = now;
      this.#publish(entry, this.#sent > 1 ? this.#entries[this.#sent - 2] : undefined);
    }
  }

  /**
   * The first message of the window follows an event that is known to be ours, so its sequence says everything. It must
   * not name that event's id: a restarted server remembers the last id only as long as its window of duplicates.
   */
  #publish(entry: Entry, behind: Entry | undefined): void {
    const block =
      `NATS/1.0\r\n${HEADER.expectedLastSequence}: ${entry.sequence - 1}\r\n` +
      (behind ? `${HEADER.expectedLastMessageId}: ${behind.messageId}\r\n` : '') +
      `${HEADER.messageId}: ${entry.messageId}\r\n${entry.headers}\r\n`;
    try {
      this.#nc.publish(entry.subject, entry.body, {
        // Made as bytes by hand: the library's header object costs more than the rest of a publish.
        headers: { encode: () => Buffer.from(block, 'latin1') } as unknown as MsgHdrs,
        reply: `${this.#inbox}.${this.#round}.${entry.sequence}`,
      });
    } catch {
      // Closed or draining connection: the outcome is the same as that of a lost message.
      void this.#recover();
    }
  }

  #onAck(msg: Msg): void {
    if (this.#state === 'ended') return;
    const [round, sequence] = msg.subject
      .slice(this.#inbox.length + 1)
      .split('.')
      .map(Number) as [number, number];
    const entry = this.#entries[sequence - this.#acknowledged - 1];
    if (!entry) return;
    const answer = parseAck(msg);
    if ('seq' in answer && answer.seq === sequence) {
      entry.acked = true;
      this.#advance();
      return;
    }
    if (round !== this.#round) return;
    if ('error' in answer && isStorageFull(answer.error)) this.#fullAt = Math.min(this.#fullAt ?? sequence, sequence);
    void this.#recover();
  }

  #advance(): void {
    let count = 0;
    while (count < this.#entries.length && this.#entries[count]!.acked) count++;
    if (count === 0) return;
    const stored = this.#entries.splice(0, count);
    this.#acknowledged += count;
    this.#sent = Math.max(0, this.#sent - count);
    for (const entry of stored) {
      this.#sentBytes = Math.max(0, this.#sentBytes - entry.body.length);
      for (const { resolve } of entry.waiters) resolve();
    }
    this.#pump();
  }

  #checkLateness(): void {
    const oldest = this.#sent > 0 ? this.#entries.find((entry) => !entry.acked) : undefined;
    if (this.#state !== 'open' || !oldest || oldest.sentAt === 0) return;
    if (performance.now() - oldest.sentAt > this.#limits.ack_timeout_ms) void this.#recover();
  }

  #recovery: Promise<void> | undefined;

  #recover(): Promise<void> {
    if (this.#end) return Promise.resolve();
    this.#recovery ??= this.#compare().finally(() => {
      this.#recovery = undefined;
    });
    return this.#recovery;
  }

  /** Stop sending, let answers on their way arrive, read the leader's tail, and go on from what it says. */
  async #compare(): Promise<void> {
    this.#state = 'recovering';
    for (let attempt = 0; !this.#end; attempt++) {
      await this.#drain(attempt);
      if (this.#end) return;
      try {
        if (await this.#compareOnce()) return;
      } catch (error) {
        if (!(error instanceof LogError || error instanceof JetStreamError)) throw error;
      }
      await pause(Math.min(1_000, 20 * 2 ** attempt) * (0.5 + Math.random() / 2));
    }
  }

  /** Whether the pipeline is open again or has ended. */
  async #compareOnce(): Promise<boolean> {
    const { lastSequence } = await this.#api.state(this.#stream);
    if (this.#end) return true;
    if (lastSequence < this.#acknowledged) {
      const message =
        `${this.#stream} ends at ${lastSequence}, below the acknowledged ${this.#acknowledged}: its store lost data ` +
        `or was restored from an older copy. The partition is halted; restart the log service to go on from there`;
      this.#finish('lost_data', new LogError('unavailable', message));
      return true;
    }
    const last = await this.#api.get(this.#stream, { seq: this.#acknowledged });
    if (this.#end) return true;
    if (last && last.header(HEADER.term) !== this.#term) return this.#fenced(last.sequence);

    while (this.#entries.length > 0 && this.#acknowledged < lastSequence) {
      const entry = this.#entries[0]!;
      const found = entry.acked ? undefined : await this.#api.get(this.#stream, { seq: entry.sequence });
      if (this.#end) return true;
      if (entry !== this.#entries[0]) continue;
      if (!entry.acked) {
        if (!found || found.header(HEADER.messageId) !== entry.messageId || found.header(HEADER.term) !== this.#term) {
          return this.#fenced(entry.sequence);
        }
      }
      entry.acked = true;
      this.#advance();
    }
    if (this.#acknowledged < lastSequence) return this.#fenced(lastSequence);
    if (this.#fullAt !== undefined) {
      this.#fullAt = undefined;
      this.#giveUpRest();
    }
    this.#sent = 0;
    this.#sentBytes = 0;
    this.#round++;
    this.#state = 'open';
    this.#pump();
    return true;
  }

  #giveUpRest(): void {
    const error = new LogError('storage_full', `${this.#stream} is full: raise its limits or archive sessions`);
    const rest = this.#entries;
    this.#entries = [];
    this.#onReset(error);
    for (const entry of rest) for (const { reject } of entry.waiters) reject(error);
  }

  #fenced(sequence: number): true {
    this.#finish('fenced', new LogError('moved', `${this.#stream}: another owner wrote sequence ${sequence}`));
    return true;
  }

  #finish(end: PipelineEnd, error: LogError): void {
    if (this.#end) return;
    this.#end = error;
    this.#state = 'ended';
    clearInterval(this.#watchdog);
    this.#acks.unsubscribe();
    const rest = this.#entries;
    this.#entries = [];
    for (const entry of rest) for (const { reject } of entry.waiters) reject(error);
    this.#onEnd(end, error);
  }

  /** Gives answers on their way a moment to arrive; the comparison is right without them, only slower. */
  async #drain(attempt: number): Promise<void> {
    if (attempt > 0 || this.#sent === 0) return;
    await this.#nc.flush().catch(() => undefined);
  }
}

function parseAck(msg: Msg): { seq: number } | { error: { err_code: number; description: string } } {
  try {
    const ack = msg.json<{ seq?: number; duplicate?: boolean; error?: { err_code?: number; description?: string } }>();
    if (ack.error) return { error: { err_code: ack.error.err_code ?? 0, description: ack.error.description ?? '' } };
    if (typeof ack.seq === 'number' && !ack.duplicate) return { seq: ack.seq };
    return { error: { err_code: 10071, description: 'duplicate' } };
  } catch {
    return { error: { err_code: 0, description: 'no answer from JetStream' } };
  }
}

function isStorageFull(error: { err_code: number; description: string }): boolean {
  if (WRONG_LAST_SEQUENCE.has(error.err_code)) return false;
  return STORAGE_FULL.has(error.err_code) || STORAGE_FULL_TEXT.test(error.description);
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
