import type { Msg, NatsConnection } from '@nats-io/nats-core';
import { LogError } from '../port/index.js';
import type { WriteMode } from './stream-writer.js';

/** A message as a stream holds it. */
export interface StoredMessage {
  readonly sequence: number;
  readonly subject: string;
  readonly header: (name: string) => string | undefined;
  readonly data: Uint8Array;
}

/** The part of a stream's state the log decides by. */
export interface StreamState {
  readonly firstSequence: number;
  readonly lastSequence: number;
}

/** An error the JetStream API answered. */
export class JetStreamError extends Error {
  override readonly name = 'JetStreamError';

  constructor(
    readonly status: number,
    readonly errorCode: number,
    message: string,
  ) {
    super(message);
  }
}

const NOT_FOUND = 10037;
const encoder = new TextEncoder();

/**
 * The few requests of the JetStream API that the log needs, raw: the client library's ordered consumer needs a newer
 * server than the oldest one supported, and reads that decide something must go to the stream's leader.
 */
export class StreamApi {
  readonly #nc: NatsConnection;
  readonly #timeout: number;

  constructor(nc: NatsConnection, options: { timeout_ms?: number } = {}) {
    this.#nc = nc;
    this.#timeout = options.timeout_ms ?? 5_000;
  }

  /** One request of the JetStream API; `subject` without its `$JS.API.` prefix. */
  async request<Answer>(subject: string, body: unknown = {}): Promise<Answer> {
    const reply = await this.#send(`$JS.API.${subject}`, body);
    const answer = reply.json<Answer & { error?: { code: number; err_code?: number; description: string } }>();
    if (answer.error) {
      throw new JetStreamError(answer.error.code, answer.error.err_code ?? 0, answer.error.description);
    }
    return answer;
  }

  /** The stream's state, from its leader. */
  async state(stream: string): Promise<StreamState> {
    const info = await this.request<{ state: { first_seq: number; last_seq: number } }>(`STREAM.INFO.${stream}`);
    return { firstSequence: info.state.first_seq, lastSequence: info.state.last_seq };
  }

  /** How an owner must write to this stream to be fenced off safely. */
  async writeMode(stream: string): Promise<WriteMode> {
    const { config } = await this.request<{ config: { num_replicas?: number; allow_atomic?: boolean } }>(
      `STREAM.INFO.${stream}`,
    );
    if ((config.num_replicas ?? 1) <= 1) return 'chained';
    return config.allow_atomic ? 'atomic' : 'single';
  }

  /** One message, from the stream's leader: by sequence, or the last one of a subject, wildcards allowed. */
  async get(stream: string, query: { seq: number } | { last_by_subj: string }): Promise<StoredMessage | undefined> {
    try {
      const { message } = await this.request<{
        message: { subject: string; seq: number; hdrs?: string; data?: string };
      }>(`STREAM.MSG.GET.${stream}`, query);
      const headers = parseHeaders(Buffer.from(message.hdrs ?? '', 'base64').toString('latin1'));
      return {
        sequence: message.seq,
        subject: message.subject,
        header: (name) => headers.get(name),
        data: Buffer.from(message.data ?? '', 'base64'),
      };
    } catch (error) {
      if (error instanceof JetStreamError && error.errorCode === NOT_FOUND) return undefined;
      throw error;
    }
  }

  /** A message known to be stored, from any replica; the leader is asked only when the nearest one does not have it. */
  async getStored(stream: string, sequence: number): Promise<StoredMessage | undefined> {
    const reply = await this.#send(`$JS.API.DIRECT.GET.${stream}`, { seq: sequence });
    if (reply.headers?.code) return this.get(stream, { seq: sequence });
    return fromDelivery(reply, sequence, reply.headers?.get('Nats-Subject') ?? '');
  }

  async #send(subject: string, body: unknown): Promise<Msg> {
    try {
      return await this.#nc.request(subject, encoder.encode(JSON.stringify(body)), { timeout: this.#timeout });
    } catch (error) {
      throw new LogError('unavailable', `JetStream did not answer ${subject}: ${(error as Error).message}`);
    }
  }
}

/** A message that the server delivered with its original headers. */
export function fromDelivery(msg: Msg, sequence: number, subject: string): StoredMessage {
  return {
    sequence,
    subject,
    // `msg.headers` parses all of them at the first use, and many messages are only passed on.
    header: (name) => (msg.headers?.has(name) ? msg.headers.get(name) : undefined),
    data: msg.data,
  };
}

function parseHeaders(block: string): Map<string, string> {
  const headers = new Map<string, string>();
  for (const line of block.split('\r\n').slice(1)) {
    const colon = line.indexOf(':');
    if (colon > 0) headers.set(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return headers;
}
