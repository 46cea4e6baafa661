import { streamName } from '@longrein/events';
import { type JetStreamClient, jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { TurnDeployment } from './deployment.js';
import type { Conversation } from './conversation.js';

const STREAM = 'PLAIN';

/** One event as it lies in a stream. */
interface Stored {
  readonly subject: string;
  readonly body: string;
}

/** The events of a turn, published again to a stream made like the log's, one after another, each acknowledged. */
export class Floor {
  private constructor(
    private readonly js: JetStreamClient,
    private readonly events: readonly Stored[],
  ) {}

  /** Records the turns that `conversation` takes from here on. */
  static async record({ nc, client }: TurnDeployment, conversation: Conversation): Promise<Floor> {
    const jsm = await jetstreamManager(nc);
    const { config } = await jsm.streams.info(streamName('sessions', 0));
    await jsm.streams.add({
      name: STREAM,
      subjects: ['plain.>'],
      storage: config.storage,
      retention: config.retention,
      discard: config.discard,
      num_replicas: config.num_replicas,
      duplicate_window: config.duplicate_window,
      max_msg_size: config.max_msg_size,
      allow_direct: config.allow_direct,
      republish: { src: 'plain.>', dest: 'live.plain.>' },
    });
    // Not the first turn: it also stores what the model is shown of the tools.
    await conversation.turn();
    const { last_seq } = await client.create(conversation.id);
    await conversation.turn();
    const page = await client.read(conversation.id, { from_seq: last_seq + 1 });
    const events = page.events.map((event) => ({
      subject: `plain.0.${conversation.id}.fact.step`,
      body: JSON.stringify(event),
    }));
    return new Floor(jetstream(nc), events);
  }

  /** Events of one turn. */
  get size(): number {
    return this.events.length;
  }

  /** Milliseconds that the events of one turn take. */
  async turn(): Promise<number> {
    const begin = performance.now();
    for (const { subject, body } of this.events) await this.js.publish(subject, body);
    return performance.now() - begin;
  }
}
