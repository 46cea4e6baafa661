import type { NatsConnection } from '@nats-io/nats-core';
import { LogError } from '../port/index.js';
import { HEADER } from './names.js';
import type { PipelineEnd, PipelineHandlers, PipelineOptions } from './pipeline-options.js';
import { JetStreamError, type StreamApi } from './stream-api.js';
import { type Outgoing, type Placed, type WriteAnswer, type WriteMode, StreamWriter } from './stream-writer.js';

interface Entry extends Placed {
  sentAt: number;
  waiters: { resolve: () => void; reject: (error: LogError) => void }[];
}

/** Refusals in a row, of one and the same message, after which it is given up instead of sent again. */
const MAX_REFUSALS = 20;

/**
 * Stores messages at consecutive sequences of one stream, without a gap or a reorder. An answer that leaves the outcome
 * open (refused, late, duplicate, disconnected) stops the pipeline until the leader's stream has been compared with
 * what was sent: what is stored counts as acknowledged, what is not is sent again, and another owner's event in our
 * place ends the pipeline.
 */
export class Pipeline {
  readonly #api: StreamApi;
  readonly #nc: NatsConnection;
  readonly #stream: string;
  readonly #term: string;
  readonly #limits: Required<PipelineOptions>;
  readonly #writer: StreamWriter;
  readonly #handlers: PipelineHandlers;
  readonly #watchdog: NodeJS.Timeout;

  #recovery: Promise<void> | undefined;
  #end: LogError | undefined;
  #isLost = false;
  /** Messages not known to be stored, in order. The first `#sent` of them are on the wire. */
  #entries: Entry[] = [];
  #sent = 0;
  #sentBytes = 0;
  /** Bytes of all entries. */
  #bytes = 0;
  /** Counts recoveries: refusals of messages sent before the last one say nothing about those sent since. */
  #round = 0;
  #acknowledged: number;
  #refusal: { sequence: number; count: number; answer: WriteAnswer & { kind: 'open' } } | undefined;

  /** @param last sequence of the event that opened the partition; everything follows it */
  constructor(
    deps: { nc: NatsConnection; api: StreamApi },
    target: { stream: string; term: string; last: number; mode: WriteMode },
    handlers: PipelineHandlers,
    options: PipelineOptions = {},
  ) {
    this.#nc = deps.nc;
    this.#api = deps.api;
    this.#stream = target.stream;
    this.#term = target.term;
    this.#acknowledged = target.last;
    this.#handlers = handlers;
    this.#limits = {
      window: options.window ?? 1024,
      window_bytes: options.window_bytes ?? 8 * 1024 * 1024,
      queue: options.queue ?? 8192,
      queue_bytes: options.queue_bytes ?? 32 * 1024 * 1024,
      ack_timeout_ms: options.ack_timeout_ms ?? 2_000,
    };
    this.#writer = new StreamWriter(deps.nc, target.mode, (...answer) => this.#onAnswer(...answer));
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
    const waiting = this.#entries.length - this.#sent;
    if (waiting + messages.length > this.#limits.queue || this.#bytes - this.#sentBytes > this.#limits.queue_bytes) {
      throw new LogError('unavailable', `${this.#stream}: ${this.#entries.length} messages wait to be stored; retry`);
    }
    let sequence = this.next;
    for (const message of messages) {
      this.#entries.push({ ...message, sequence: sequence++, sentAt: 0, waiters: [] });
      this.#bytes += message.body.length;
    }
    this.#pump();
  }

  /** Resolves when everything up to the sequence is stored; rejects when that can no longer happen. */
  settled(sequence: number): Promise<void> {
    // What was acknowledged stays stored when the partition moves on; when the store lost data, nobody knows.
    if (this.#end && (this.#isLost || sequence > this.#acknowledged)) return Promise.reject(this.#end);
    if (sequence <= this.#acknowledged) return Promise.resolve();
    const entry = this.#entries[sequence - this.#acknowledged - 1];
    if (!entry) return Promise.reject(new LogError('moved', `${this.#stream}: sequence ${sequence} was given up`));
    return new Promise((resolve, reject) => entry.waiters.push({ resolve, reject }));
  }

  /** Proves that the partition is still ours: what is under way gets stored, or the leader's stream ends with us. */
  async verify(): Promise<void> {
    if (this.#entries.length > 0) await this.settled(this.next - 1);
    else await this.reconcile();
  }

  /** Compares the leader's stream with what is believed stored, e.g. after a reconnect. Rejects when ended. */
  async reconcile(): Promise<void> {
    if (!this.#end) await this.#recover();
    if (this.#end) throw this.#end;
  }

  /** Ends the pipeline. Messages whose outcome is unknown are answered `moved`. */
  stop(): void {
    this.#finish('stopped', new LogError('moved', `${this.#stream}: this replica gave the partition up`));
  }

  #pump(): void {
    if (this.#recovery || this.#end) return;
    const now = performance.now();
    const ready: Entry[] = [];
    for (let i = this.#sent, bytes = this.#sentBytes; i < this.#entries.length && i < this.#limits.window; i++) {
      if (bytes >= this.#limits.window_bytes) break;
      const entry = this.#entries[i]!;
      entry.sentAt = now;
      bytes += entry.body.length;
      ready.push(entry);
    }
    if (ready.length === 0) return;
    try {
      const sent = this.#writer.send(ready, this.#entries[this.#sent - 1], this.#round);
      for (let i = 0; i < sent; i++) this.#sentBytes += ready[i]!.body.length;
      this.#sent += sent;
    } catch {
      // Closed or draining connection: the outcome is the same as that of lost messages.
      void this.#recover();
    }
  }

  #onAnswer(round: number, sequence: number, answer: WriteAnswer): void {
    // Stored means at exactly this sequence, behind exactly the message it had to follow: so is everything before it.
    if (answer.kind === 'stored') {
      this.#acknowledge(sequence);
      return;
    }
    if (round !== this.#round || this.#end || sequence <= this.#acknowledged) return;
    if (!this.#refusal || this.#refusal.sequence !== this.#acknowledged + 1) {
      this.#refusal = { sequence: this.#acknowledged + 1, count: 0, answer };
    }
    if (!this.#recovery) {
      this.#refusal.count++;
      this.#refusal.answer = answer;
    } else if (answer.full) {
      this.#refusal.answer = answer;
    }
    void this.#recover();
  }

  #acknowledge(sequence: number): void {
    const count = sequence - this.#acknowledged;
    if (count <= 0 || this.#end) return;
    const stored = this.#entries.splice(0, count);
    this.#acknowledged = sequence;
    this.#sent = Math.max(0, this.#sent - count);
    for (const entry of stored) {
      this.#sentBytes = Math.max(0, this.#sentBytes - entry.body.length);
      this.#bytes -= entry.body.length;
      for (const { resolve } of entry.waiters) resolve();
    }
    this.#pump();
  }

  #checkLateness(): void {
    const oldest = this.#sent > 0 ? this.#entries[0] : undefined;
    if (!oldest || this.#recovery) return;
    if (performance.now() - oldest.sentAt > this.#limits.ack_timeout_ms) void this.#recover();
  }

  #recover(): Promise<void> {
    if (this.#end) return Promise.resolve();
    this.#recovery ??= this.#compare().finally(() => {
      this.#recovery = undefined;
      this.#round++;
      this.#sent = 0;
      this.#sentBytes = 0;
      this.#pump();
    });
    return this.#recovery;
  }

  /** Stop sending, let answers on their way arrive, read the leader's tail, and go on from what it says. */
  async #compare(): Promise<void> {
    // The comparison is right without those answers, only slower.
    if (this.#sent > 0) await this.#nc.flush().catch(() => undefined);
    for (let attempt = 0; !this.#end; attempt++) {
      try {
        await this.#compareOnce();
        return;
      } catch (error) {
        if (!(error instanceof LogError || error instanceof JetStreamError)) throw error;
      }
      await pause(Math.min(1_000, 20 * 2 ** attempt) * (0.5 + Math.random() / 2));
    }
  }

  async #compareOnce(): Promise<void> {
    // Acknowledgements that arrive while the leader answers may already be ahead of its answer.
    const known = this.#acknowledged;
    const { lastSequence } = await this.#api.state(this.#stream);
    if (this.#end) return;
    if (lastSequence < known) {
      const message =
        `${this.#stream} ends at ${lastSequence}, below the acknowledged ${known}: its store lost data or was ` +
        `restored from an older copy. The partition is halted; restart the log service to go on from there`;
      this.#finish('lost_data', new LogError('unavailable', message));
      return;
    }
    const last = await this.#api.get(this.#stream, { seq: known });
    if (this.#end) return;
    if (last && last.header(HEADER.term) !== this.#term) return this.#fenced(known);
    while (this.#acknowledged < lastSequence) {
      const entry = this.#entries[0];
      if (!entry) return this.#fenced(lastSequence);
      const found = await this.#api.get(this.#stream, { seq: entry.sequence });
      if (this.#end) return;
      if (entry !== this.#entries[0]) continue;
      if (found?.header(HEADER.messageId) !== entry.messageId || found.header(HEADER.term) !== this.#term) {
        return this.#fenced(entry.sequence);
      }
      this.#acknowledge(entry.sequence);
    }
    this.#weighRefusal();
  }

  /** A message that the stream keeps refusing, though it would fit, must not hold up everything behind it. */
  #weighRefusal(): void {
    const refusal = this.#refusal;
    if (!refusal) return;
    if (refusal.sequence !== this.#acknowledged + 1) {
      this.#refusal = undefined;
      return;
    }
    const { answer, count } = refusal;
    if (answer.full) {
      this.#giveUp(new LogError('storage_full', `${this.#stream} is full: raise its limits or archive sessions`));
    } else if (count >= MAX_REFUSALS) {
      this.#giveUp(new LogError('unavailable', `${this.#stream} keeps refusing: ${answer.description}`));
    }
  }

  #giveUp(error: LogError): void {
    this.#refusal = undefined;
    const rest = this.#entries;
    this.#entries = [];
    this.#bytes = 0;
    this.#handlers.onReset(error);
    for (const entry of rest) for (const { reject } of entry.waiters) reject(error);
  }

  #fenced(sequence: number): void {
    this.#finish('fenced', new LogError('moved', `${this.#stream}: another owner wrote sequence ${sequence}`));
  }

  #finish(end: PipelineEnd, error: LogError): void {
    if (this.#end) return;
    this.#end = error;
    this.#isLost = end === 'lost_data';
    clearInterval(this.#watchdog);
    this.#writer.stop();
    const rest = this.#entries;
    this.#entries = [];
    for (const entry of rest) for (const { reject } of entry.waiters) reject(error);
    this.#handlers.onEnd(end, error);
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
