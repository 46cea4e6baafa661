import { type MsgHdrs, type Msg, type NatsConnection, type Subscription, createInbox, nuid } from '@nats-io/nats-core';
import { HEADER } from './names.js';

/** A message to store. Its place in the stream is known when it is handed over. */
export interface Outgoing {
  readonly subject: string;
  readonly messageId: string;
  /** Further header lines, each ending in CRLF. */
  readonly headers: string;
  readonly body: Uint8Array;
}

/** A message with its place. */
export interface Placed extends Outgoing {
  readonly sequence: number;
}

/**
 * How messages are put on the wire so that an owner who lost the partition stores nothing more. The sequence that each
 * message must follow does not do it alone: the new owner's first event can land exactly where a message was refused,
 * and the messages behind that one would fit again.
 *
 * - `chained`: many single messages under way; each behind an unacknowledged one names that one's id as well. For
 *   streams with one copy, on any server. (On replicated streams current servers halt over such a refusal.)
 * - `atomic`: everything that waits goes as one batch that is stored whole or not at all, one batch under way. For
 *   replicated streams, on servers from 2.12 on.
 * - `single`: one message under way. For replicated streams on older servers.
 */
export type WriteMode = 'chained' | 'atomic' | 'single';

/** What the stream answered to a message or a batch. */
export type WriteAnswer =
  /** Stored up to this sequence. */
  | { readonly kind: 'stored'; readonly sequence: number }
  /** Anything that leaves the outcome open; `full` when the stream has no room. */
  | { readonly kind: 'open'; readonly full: boolean; readonly description: string };

/** Most messages of a batch; the server's own limit is 1,000. */
const BATCH = 512;
const BATCH_BYTES = 4 * 1024 * 1024;

/** Puts messages on the wire and hands on what the stream answers. Keeps no state about what is stored. */
export class StreamWriter {
  readonly #inbox = createInbox();
  readonly #answers: Subscription;

  /** @param onAnswer told the answer to what was sent up to `sequence` in this round */
  constructor(
    private readonly nc: NatsConnection,
    readonly mode: WriteMode,
    onAnswer: (round: number, sequence: number, answer: WriteAnswer) => void,
  ) {
    this.#answers = nc.subscribe(`${this.#inbox}.*.*`, {
      callback: (_, msg) => {
        const [round, sequence] = msg.subject
          .slice(this.#inbox.length + 1)
          .split('.')
          .map(Number) as [number, number];
        onAnswer(round, sequence, parseAnswer(msg, sequence));
      },
    });
  }

  /**
   * Sends the first of the waiting messages, as many as the mode allows, and returns how many.
   *
   * @param behind the unacknowledged message in front of them; nothing when the one in front is known to be stored
   */
  send(messages: readonly Placed[], behind: Placed | undefined, round: number): number {
    if (this.mode === 'chained') {
      messages.forEach((message, i) => this.#publish(message, expectation(message, messages[i - 1] ?? behind), round));
      return messages.length;
    }
    if (behind) return 0;
    const batch = this.mode === 'atomic' ? batchOf(messages) : messages.slice(0, 1);
    if (batch.length === 1) this.#publish(batch[0]!, expectation(batch[0]!, undefined), round);
    else this.#publishBatch(batch, round);
    return batch.length;
  }

  stop(): void {
    this.#answers.unsubscribe();
  }

  #publishBatch(batch: readonly Placed[], round: number): void {
    const id = nuid.next();
    batch.forEach((message, i) => {
      const isLast = i === batch.length - 1;
      const lines =
        (i === 0 ? expectation(message, undefined) : '') +
        `${HEADER.batchId}: ${id}\r\n${HEADER.batchSequence}: ${i + 1}\r\n` +
        (isLast ? `${HEADER.batchCommit}: 1\r\n` : '');
      this.#publish(message, lines, isLast ? round : undefined);
    });
  }

  #publish(message: Placed, expectations: string, round: number | undefined): void {
    const block = `NATS/1.0\r\n${expectations}${HEADER.messageId}: ${message.messageId}\r\n${message.headers}\r\n`;
    this.nc.publish(message.subject, message.body, {
      // Made as bytes by hand: the library's header object costs more than the rest of a publish.
      headers: { encode: () => Buffer.from(block, 'latin1') } as unknown as MsgHdrs,
      ...(round === undefined ? {} : { reply: `${this.#inbox}.${round}.${message.sequence}` }),
    });
  }
}

/**
 * A message behind one that is known to be stored names no id: a restarted server remembers the last id only as long as
 * its window of duplicates.
 */
function expectation({ sequence }: Placed, behind: Placed | undefined): string {
  const last = `${HEADER.expectedLastSequence}: ${sequence - 1}\r\n`;
  return behind ? `${last}${HEADER.expectedLastMessageId}: ${behind.messageId}\r\n` : last;
}

function batchOf(messages: readonly Placed[]): readonly Placed[] {
  let bytes = 0;
  let count = 0;
  while (count < messages.length && count < BATCH && (count === 0 || bytes < BATCH_BYTES)) {
    bytes += messages[count++]!.body.length;
  }
  return messages.slice(0, count);
}

/** Insufficient resources, and a stream's limits. */
const STORAGE_FULL = new Set([10023, 10047, 10077, 10122]);
const STORAGE_FULL_TEXT = /maximum (bytes|messages)|insufficient (storage )?resources|no space/i;

/** Whether an error that the stream answered means that there is no room. */
export function saysFull(error: { readonly err_code?: number; readonly description?: string }): boolean {
  return STORAGE_FULL.has(error.err_code ?? 0) || STORAGE_FULL_TEXT.test(error.description ?? '');
}

function parseAnswer(msg: Msg, sequence: number): WriteAnswer {
  let description = 'no answer from JetStream';
  try {
    const ack = msg.json<{ seq?: number; duplicate?: boolean; error?: { err_code?: number; description?: string } }>();
    if (ack.error) {
      description = ack.error.description ?? 'refused';
      return { kind: 'open', full: saysFull(ack.error), description };
    }
    if (ack.seq === sequence && !ack.duplicate) return { kind: 'stored', sequence };
    description = ack.duplicate ? 'stored before' : `stored at ${ack.seq}`;
  } catch {
    // Not JSON: no responder, because the stream has no leader.
  }
  return { kind: 'open', full: false, description };
}
