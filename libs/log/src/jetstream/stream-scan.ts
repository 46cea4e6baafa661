import { type NatsConnection, createInbox, nuid } from '@nats-io/nats-core';
import { LogError } from '../port/index.js';
import { type StoredMessage, type StreamApi, fromDelivery } from './stream-api.js';

/** What to scan. */
export interface ScanRequest {
  readonly stream: string;
  /** One subject, wildcards allowed. */
  readonly subject: string;
  /** First stream sequence. */
  readonly from: number;
  readonly limit: number;
  /** Stop after about this many bytes. */
  readonly max_bytes: number;
}

const INACTIVE_NS = 5_000_000_000;
const QUIET_MS = 5_000;

/**
 * The next messages of a subject from a stream sequence on, by one short-lived pull consumer: the fastest way where the
 * wanted messages lie close together.
 */
export async function scan(nc: NatsConnection, api: StreamApi, request: ScanRequest): Promise<StoredMessage[]> {
  const { stream, subject, from, limit, max_bytes } = request;
  const name = nuid.next();
  const consumer = await api.request<{ num_pending?: number }>(`CONSUMER.CREATE.${stream}.${name}.${subject}`, {
    stream_name: stream,
    config: {
      name,
      filter_subject: subject,
      deliver_policy: 'by_start_sequence',
      opt_start_seq: from,
      ack_policy: 'none',
      replay_policy: 'instant',
      mem_storage: true,
      num_replicas: 1,
      inactive_threshold: INACTIVE_NS,
    },
  });
  try {
    const batch = Math.min(limit, consumer.num_pending ?? limit);
    return batch > 0 ? await pull(nc, `${stream}.${name}`, batch, max_bytes) : [];
  } finally {
    nc.publish(`$JS.API.CONSUMER.DELETE.${stream}.${name}`);
  }
}

function pull(nc: NatsConnection, consumer: string, batch: number, maxBytes: number): Promise<StoredMessage[]> {
  return new Promise((resolve, reject) => {
    const messages: StoredMessage[] = [];
    let bytes = 0;
    const inbox = createInbox();
    const finish = (): void => {
      clearTimeout(quiet);
      subscription.unsubscribe();
    };
    const quiet = setTimeout(() => {
      finish();
      reject(new LogError('unavailable', `JetStream delivered nothing for ${QUIET_MS} ms to a read of ${consumer}`));
    }, QUIET_MS);
    const subscription = nc.subscribe(inbox, {
      callback: (_, msg) => {
        // The server's own words come to the inbox, events under their subjects.
        if (msg.subject === inbox && msg.headers?.code) {
          finish();
          resolve(messages);
          return;
        }
        quiet.refresh();
        const message = fromDelivery(msg, streamSequence(msg.reply), msg.subject);
        messages.push(message);
        bytes += message.data.length;
        if (messages.length < batch && bytes < maxBytes) return;
        finish();
        resolve(messages);
      },
    });
    nc.publish(`$JS.API.CONSUMER.MSG.NEXT.${consumer}`, JSON.stringify({ batch, no_wait: true }), { reply: inbox });
  });
}

/** Stream sequence out of an ack subject, whose newer form has a domain and an account in front. */
export function streamSequence(reply: string | undefined): number {
  const tokens = reply?.split('.') ?? [];
  return Number(tokens.length >= 11 ? tokens[7] : tokens[5]);
}
