import type { Clock } from '@longrein/clock';
import { type BaseEnvelope, type StreamKind, factSubjects, streamName } from '@longrein/events';
import type { NatsConnection } from '@nats-io/nats-core';
import { HEADER } from '../jetstream/names.js';
import { StreamApi } from '../jetstream/stream-api.js';
import {
  type Checkpoint,
  CheckpointMismatch,
  type ConsumeOptions,
  type Delivery,
  LogError,
  type Selection,
} from '../port/index.js';
import { verifyCheckpoint } from './checkpoint.js';
import { Backoff } from './backoff.js';
import { ConnectionWatch } from './connection-watch.js';
import { ConsumerTrouble, EphemeralConsumer, type StreamMessage } from './ephemeral-consumer.js';
import { assertGapIsDeleted } from './stream-gap.js';
import { Wakeup, onAbort } from './wakeup.js';

/** Limits of one consumer. */
export interface ConsumeLimits {
  /** Messages held for a slow reader, those on their way included. */
  readonly buffered_messages: number;
  /** Bytes held for a slow reader, estimated from the messages so far. */
  readonly buffered_bytes: number;
  /** How often the server shows that it is there. After three times as long in silence the consumer is made anew. */
  readonly heartbeat_ms: number;
  /** How long the server keeps the consumer of a reader that asks for nothing. */
  readonly inactive_threshold_ms: number;
}

export const DEFAULT_CONSUME: ConsumeLimits = {
  buffered_messages: 1_024,
  buffered_bytes: 16 * 1024 * 1024,
  heartbeat_ms: 1_500,
  inactive_threshold_ms: 60_000,
};

/** What consumption works with. */
export interface ConsumeDeps {
  readonly nc: NatsConnection;
  readonly kind: StreamKind;
  readonly clock: Clock;
  readonly limits: ConsumeLimits;
  readonly inboxPrefix?: string | undefined;
  readonly onTrouble?: ((trouble: Error, where: string) => void) | undefined;
}

/**
 * Delivers a partition's events in stream order, each once per call, straight from JetStream. The server side is a
 * consumer without acknowledgements that is thrown away at any trouble and made anew behind the last event delivered,
 * after that event was compared with the stream.
 *
 * The position is always that of the last event *delivered*: with a selection, events that it leaves out move nothing.
 * Restarting from an old position does not deliver them either, because the server skips them; it only costs the
 * server a look at them. So a selection that seldom matches neither freezes nor repeats anything.
 */
export async function* consumePartition<Envelope extends BaseEnvelope>(
  prepare: () => ConsumeDeps,
  options: ConsumeOptions,
): AsyncGenerator<Delivery<Envelope>, void, void> {
  const deps = prepare();
  const { nc, clock, limits } = deps;
  const { signal } = options;
  const stream = streamName(deps.kind, options.partition);
  const filter = filterOf(deps.kind, options.partition, options.select);
  const api = new StreamApi(nc);
  const watch = ConnectionWatch.of(nc);
  const wakeup = new Wakeup();
  const backoff = new Backoff(50, 2_000);
  const stops = [
    watch.listen({ reconnected: () => wakeup.wake(), closed: () => wakeup.wake() }),
    onAbort(signal, () => wakeup.wake()),
  ];
  const ended = (): boolean => signal?.aborted === true;
  let position: Checkpoint | undefined = options.after;
  let caughtUp: CatchUp | undefined;
  let announced = false;

  try {
    if (position && position.stream !== stream) throw new CheckpointMismatch(position, `the events of ${stream}`);
    while (!ended()) {
      if (watch.closed) throw new LogError('unavailable', `consuming ${stream}: the connection to NATS is closed`);
      if (!watch.connected) {
        await wakeup.wait(clock);
        continue;
      }
      let consumer: EphemeralConsumer | undefined;
      try {
        consumer = await EphemeralConsumer.create(
          { nc, api, clock, limits, watch, inboxPrefix: deps.inboxPrefix },
          { stream, filter, after: position?.sequence },
        );
        // After the creation: a server that restarts with other data between the two has lost the consumer as well.
        if (position) await verifyCheckpoint(api, position);
        caughtUp ??= await CatchUp.begin(api, stream, filter, position?.sequence ?? 0);
        consumer.start();

        while (!ended()) {
          if (!announced && caughtUp.done) {
            announced = true;
            yield { kind: 'caught_up' };
            continue;
          }
          const message = await consumer.next(signal);
          if (message === 'ended') return;
          backoff.reset();
          if (message === 'idle') {
            await caughtUp.idle();
            continue;
          }
          if (filter === undefined) await assertGapIsDeleted(api, stream, position?.sequence ?? 0, message.sequence);
          const event = decode<Envelope>(stream, message);
          position = checkpointOf(stream, message, event);
          caughtUp.delivered(message.sequence);
          yield { kind: 'event', event, checkpoint: position };
        }
      } catch (error) {
        if (!isPassing(error)) throw error;
        deps.onTrouble?.(error, stream);
        if (!ended() && watch.connected) await wakeup.wait(clock, backoff.next());
      } finally {
        consumer?.close();
      }
    }
  } finally {
    for (const stop of stops) stop();
  }
}

/** Knows when everything that was stored at the beginning has been delivered. Counts of pending messages are not used: old servers get them wrong. */
class CatchUp {
  private constructor(
    private readonly api: StreamApi,
    private readonly stream: string,
    /** Sequence of the last matching message at the beginning. */
    private readonly target: number,
    private reached: boolean,
  ) {}

  static async begin(api: StreamApi, stream: string, filter: string | undefined, after: number): Promise<CatchUp> {
    const target = (await api.get(stream, { last_by_subj: filter ?? '>' }))?.sequence ?? 0;
    return new CatchUp(api, stream, target, target <= after);
  }

  get done(): boolean {
    return this.reached;
  }

  delivered(sequence: number): void {
    this.reached ||= sequence >= this.target;
  }

  /** The server has nothing to send for now: the target may have been deleted meanwhile. */
  async idle(): Promise<void> {
    this.reached ||= (await this.api.get(this.stream, { seq: this.target })) === undefined;
  }
}

function filterOf(kind: StreamKind, partition: number, select: Selection): string | undefined {
  if (select === 'all') return undefined;
  return select === 'facts' ? factSubjects(kind, partition) : factSubjects(kind, partition, select.family);
}

function checkpointOf(stream: string, message: StreamMessage, event: BaseEnvelope): Checkpoint {
  return { stream, incarnation: message.header(HEADER.term), sequence: message.sequence, event_id: event.id };
}

function decode<Envelope extends BaseEnvelope>(stream: string, message: StreamMessage): Envelope {
  try {
    return message.json<Envelope>();
  } catch (error) {
    throw new Error(
      `sequence ${message.sequence} of ${stream} (${message.subject}) is not an event: something else than the log wrote there`,
      {
        cause: error,
      },
    );
  }
}

/** Whether trying again with a new consumer can help. */
function isPassing(error: unknown): error is Error {
  return error instanceof ConsumerTrouble || (error instanceof LogError && error.retryable);
}
