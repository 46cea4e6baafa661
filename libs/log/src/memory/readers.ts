import type { BaseEnvelope } from '@longrein/events';
import { DEFAULT_PAGE, MAX_PAGE, MAX_PAGE_BYTES } from '../core/index.js';
import {
  type Checkpoint,
  type Delivery,
  type EventPage,
  type ReadRequest,
  type Selection,
  LogError,
} from '../port/index.js';
import { type MemoryPartition, type StoredEvent, isFact, isSelected } from './memory-partition.js';

/** One page of a session's events. */
export function readPage(session: readonly StoredEvent[], request: ReadRequest): EventPage<BaseEnvelope> {
  const { from_seq, limit = DEFAULT_PAGE, facts_only = false } = request;
  requireInteger('from_seq', from_seq, 0);
  requireInteger('limit', limit, 1);
  const most = Math.min(limit, MAX_PAGE);
  const events: BaseEnvelope[] = [];
  let bytes = 0;
  let next = from_seq;
  for (; next < session.length; next++) {
    const event = session[next]!;
    if (facts_only && !isFact(event)) continue;
    if (events.length === most || (events.length > 0 && bytes + event.bytes > MAX_PAGE_BYTES)) break;
    events.push(event.envelope);
    bytes += event.bytes;
  }
  return { events, next_seq: next < session.length ? next : null, last_seq: session.length - 1 };
}

/** A session's events from a seq on, those stored and those to come. */
export async function* follow(
  partition: MemoryPartition,
  session: readonly StoredEvent[],
  from_seq: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<BaseEnvelope, void> {
  requireInteger('from_seq', from_seq, 0);
  for (let next = from_seq; !signal?.aborted;) {
    const event = session[next];
    if (!event) {
      await partition.bell.wait(signal);
      continue;
    }
    next++;
    yield event.envelope;
  }
}

/** A partition's events after a checkpoint, in the order they were stored. Each consumer goes at its own pace. */
export async function* consume(
  partition: MemoryPartition,
  select: Selection,
  after: Checkpoint | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<Delivery<BaseEnvelope>, void> {
  if (after) partition.verify(after);
  const stored = partition.lastSequence;
  let caughtUp = false;
  for (let next = (after?.sequence ?? 0) + 1; !signal?.aborted;) {
    if (!caughtUp && next > stored) {
      caughtUp = true;
      yield { kind: 'caught_up' };
      continue;
    }
    const event = partition.at(next);
    if (!event) {
      await partition.bell.wait(signal);
      continue;
    }
    next++;
    if (isSelected(event, select)) yield { kind: 'event', event: event.envelope, checkpoint: event.checkpoint };
  }
}

function requireInteger(name: string, value: unknown, least: number): void {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < least) {
    throw new LogError('invalid_event', `${name} must be an integer from ${least}, got ${String(value)}`);
  }
}
