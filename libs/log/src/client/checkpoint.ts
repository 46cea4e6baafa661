import type { BaseEnvelope } from '@longrein/events';
import { HEADER } from '../jetstream/names.js';
import type { StreamApi } from '../jetstream/stream-api.js';
import { type Checkpoint, CheckpointMismatch } from '../port/index.js';

/**
 * Asks the stream's leader whether it still holds what the checkpoint says. An event that retention removed proves
 * nothing either way and passes; another event in its place, or a stream that ends before it, is a mismatch.
 */
export async function verifyCheckpoint(api: StreamApi, checkpoint: Checkpoint): Promise<void> {
  const { stream, sequence, event_id, incarnation } = checkpoint;
  const message = await api.get(stream, { seq: sequence });
  if (!message) {
    const { lastSequence } = await api.state(stream);
    if (lastSequence < sequence) throw new CheckpointMismatch(checkpoint, `nothing after sequence ${lastSequence}`);
    return;
  }
  const found = eventId(message.data);
  if (found !== event_id) throw new CheckpointMismatch(checkpoint, `event ${found ?? '(unreadable)'}`);
  const term = message.header(HEADER.term) ?? '';
  if (term !== incarnation) {
    throw new CheckpointMismatch(checkpoint, `the event of another incarnation (${term}, not ${incarnation})`);
  }
}

function eventId(data: Uint8Array): string | undefined {
  try {
    return (JSON.parse(Buffer.from(data).toString()) as BaseEnvelope).id;
  } catch {
    return undefined;
  }
}
