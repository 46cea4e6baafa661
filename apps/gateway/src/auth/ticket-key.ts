import { createHash, randomBytes } from 'node:crypto';
import { Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { FrameError } from '../protocol/server-frames.js';
import type { TicketKey } from './tickets.js';

/** Where replicas without a configured key keep the one they share. */
const BUCKET = 'LONGREIN_GATEWAY';
const NAME = 'ticket_key';

/** A key from the configuration. */
export function configuredKey(secret: string): TicketKey {
  const key = createHash('sha256').update(secret).digest();
  return { current: async () => key };
}

/** A key that the first replica makes and all share through a bucket. Fetched when it is first needed. */
export class SharedKey implements TicketKey {
  #key: Promise<Buffer> | undefined;

  constructor(
    private readonly nats: NatsConnection,
    private readonly replicas: number,
  ) {}

  /** Rejects with `unavailable` while the bucket cannot be reached. */
  async current(): Promise<Buffer> {
    this.#key ??= this.#fetch();
    try {
      return await this.#key;
    } catch (error) {
      this.#key = undefined;
      throw new FrameError('unavailable', `the key of tickets cannot be read: ${(error as Error).message}`);
    }
  }

  async #fetch(): Promise<Buffer> {
    const kv = await new Kvm(this.nats).create(BUCKET, { replicas: this.replicas, history: 1, allow_direct: false });
    // Only the first one creates it; whoever comes second reads what the first one made.
    await kv.create(NAME, randomBytes(32).toString('base64url')).catch(() => undefined);
    const entry = await kv.get(NAME);
    if (!entry || entry.operation !== 'PUT') throw new Error(`${BUCKET} holds no ${NAME}`);
    return Buffer.from(entry.string(), 'base64url');
  }
}
