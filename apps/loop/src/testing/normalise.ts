import type { EventEnvelope } from '@longrein/events';

/** An event without what differs from run to run. */
export interface NormalEvent {
  readonly type: string;
  readonly payload: unknown;
  readonly copied?: true;
}

const CHUNK = 'assistant/chunk';

/** Fields that name events by seq: chunks make seqs differ, so they are told by the fact's ordinal. */
const SEQ_FIELDS: ReadonlySet<string> = new Set(['call_seq', 'request_seq', 'upto_seq', 'boundary', 'head']);

/**
 * A session's events so that two runs of one scenario compare equal: without ids, times and epochs, chunks of a run of
 * text joined, references by ordinal instead of seq. Chunks of an answer that never became a message are left out: how
 * many of them got out before it was cut is a matter of time.
 */
export function normalise(events: readonly EventEnvelope[]): NormalEvent[] {
  const ordinals = new Map<number, number>();
  for (const event of events) if (event.type !== CHUNK) ordinals.set(event.seq, ordinals.size);
  const normal: NormalEvent[] = [];
  let text = '';
  for (const { type, payload, copied } of events) {
    if (type === CHUNK) {
      text += (payload as { text: string }).text;
      continue;
    }
    if (type === 'assistant/message' && text !== '') normal.push({ type: CHUNK, payload: { text } });
    if (type === 'assistant/message' || type === 'step/start') text = '';
    normal.push({
      type,
      payload: normalPayload(payload as Record<string, unknown>, ordinals),
      ...(copied && { copied }),
    });
  }
  return normal;
}

function normalPayload(payload: Record<string, unknown>, ordinals: ReadonlyMap<number, number>): unknown {
  const fields = Object.entries(payload).filter(([name]) => name !== 'epoch');
  return Object.fromEntries(
    fields.map(([name, value]) => [name, SEQ_FIELDS.has(name) ? `#${ordinals.get(value as number)}` : value]),
  );
}
