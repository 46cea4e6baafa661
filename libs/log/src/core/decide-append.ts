import { type BaseEnvelope, type EventDefinition, type StreamKind } from '@longrein/events';
import { LogError } from '../port/index.js';
import type { CheckedAppend } from './boundary.js';
import { LOOKBACK, MAX_EVENT_BYTES } from './limits.js';
import type { SessionHead } from './session-head.js';
import type { RecentEvent } from './session-window.js';
import type { Timestamp } from './timestamp.js';

/** An event ready to be stored. */
export interface PreparedEvent {
  readonly envelope: BaseEnvelope;
  readonly definition: EventDefinition;
  /** The envelope as JSON in UTF-8: exactly what is stored. */
  readonly body: Buffer;
}

/** What to do with an append. */
export type AppendDecision =
  /** Store these; answer with the last one's seq and time. */
  | { readonly kind: 'store'; readonly events: readonly PreparedEvent[]; readonly missed: Missed }
  /** A retry of what is stored: answer as the first time. */
  | { readonly kind: 'stored'; readonly seq: number; readonly at: string; readonly missed: Missed }
  /** Refused. The answer may reveal events that are not acknowledged yet: wait for those before sending it. */
  | { readonly kind: 'refuse'; readonly error: LogError }
  /** The window must first reach back to this seq. */
  | { readonly kind: 'load'; readonly from: number }
  /** The caller knows events this head does not: whoever holds the head may no longer own the partition. */
  | { readonly kind: 'ahead'; readonly error: LogError };

type Missed = readonly BaseEnvelope[] | 'truncated';

/** What the decision needs from outside. */
export interface AppendContext {
  readonly kind: StreamKind;
  readonly now: Timestamp;
  readonly newId: () => string;
  /** Epoch in force for the calling service's scope; undefined when the service has none or nobody owns it yet. */
  readonly epoch: number | undefined;
}

const NOTHING: ReadonlySet<number> = new Set();

/**
 * The log's rule, for every implementation: what happens to an append, given the session's head. Pure but for ids and
 * time. Retries are recognised first, so that they answer as the first time whatever happened since; then the epoch;
 * then `expect`.
 */
export function decideAppend(head: SessionHead, append: CheckedAppend, context: AppendContext): AppendDecision {
  const { expect, since } = append;
  const known = Math.max(since, expect?.seq ?? -1);
  if (known > head.lastSeq) {
    return {
      kind: 'ahead',
      error: conflict(`the caller knows seq ${known}, but the session ends at ${head.lastSeq}`, head, since),
    };
  }
  if (append.epoch !== undefined && append.epoch > (context.epoch ?? 0)) {
    const message = `epoch ${append.epoch} is above ${context.epoch ?? 'any'} known here`;
    return { kind: 'ahead', error: new LogError('fenced', message, epochDetails(context)) };
  }
  const load = mustLoad(head, append);
  if (load !== undefined) return { kind: 'load', from: load };

  const stored = findStored(head, append);
  if (stored.error) return { kind: 'refuse', error: stored.error };
  const count = stored.events.length;
  const own = count === 0 ? NOTHING : new Set(stored.events.map((event) => event.seq));
  if (count === append.events.length) {
    const last = stored.events[count - 1]!;
    return { kind: 'stored', seq: last.seq, at: last.at, missed: head.window.missed(since, last.seq, own) };
  }

  const refusal = checkEpoch(append, context) ?? checkExpect(head, append, own);
  if (refusal) return { kind: 'refuse', error: refusal };
  try {
    return {
      kind: 'store',
      events: prepare(head, append, stored.events, context),
      missed: head.window.missed(since, head.lastSeq + 1, own),
    };
  } catch (error) {
    if (error instanceof LogError) return { kind: 'refuse', error };
    throw error;
  }
}

/** Reaches back only for what the append's own ids and conditions need, and never further than the look-back. */
function mustLoad(head: SessionHead, { events, expect, since }: CheckedAppend): number | undefined {
  const from = head.window.from;
  const oldest = Math.max(0, head.lastSeq + 1 - LOOKBACK);
  let need = from;
  if (since + 1 < from && events.some((event) => event.event_id !== undefined)) need = since + 1;
  if (expect && expect.seq + 1 < Math.min(from, need)) need = expect.seq + 1;
  need = Math.max(need, oldest);
  return need < from ? need : undefined;
}

function findStored(head: SessionHead, { events, since }: CheckedAppend): { events: RecentEvent[]; error?: LogError } {
  const found: RecentEvent[] = [];
  let gap = false;
  for (const { event_id, definition } of events) {
    const event = event_id === undefined ? undefined : head.window.find(event_id, since);
    if (!event) {
      gap = true;
      continue;
    }
    found.push(event);
    if (event.type !== definition.type || gap) {
      const message = `event_id ${event_id} is stored at seq ${event.seq} as ${event.type}, not as part of this append`;
      return { events: [], error: conflict(message, head, since, { stored: [event.seq] }) };
    }
  }
  return { events: found };
}

function checkEpoch({ epoch }: CheckedAppend, context: AppendContext): LogError | undefined {
  const current = context.epoch;
  if (current === undefined || epoch === current) return undefined;
  if (epoch === undefined) {
    const message = `an epoch is needed: the partition is owned under epoch ${current}`;
    return new LogError('fenced', message, epochDetails(context));
  }
  return new LogError('fenced', `epoch ${epoch} is not in force; ${current} is`, epochDetails(context));
}

function epochDetails({ epoch }: AppendContext): { epoch?: number } {
  return epoch === undefined ? {} : { epoch };
}

function checkExpect(head: SessionHead, append: CheckedAppend, own: ReadonlySet<number>): LogError | undefined {
  const { expect, since } = append;
  if (!expect) return undefined;
  const details = own.size > 0 ? { stored: [...own] } : {};
  const hit = head.window.firstFactAfter(expect.seq, expect.none_of, own);
  if (hit) return conflict(`${hit.type} landed at seq ${hit.seq}, after ${expect.seq}`, head, since, details);
  if (expect.seq + 1 < head.window.from) {
    return conflict(`seq ${expect.seq} lies more than ${LOOKBACK} events back; read and decide again`, head, since);
  }
  return undefined;
}

function conflict(message: string, head: SessionHead, since: number, details: { stored?: number[] } = {}): LogError {
  const missed = head.window.missed(since, head.lastSeq + 1, new Set(details.stored));
  return new LogError('conflict', message, { missed, last_seq: head.lastSeq, ...details });
}

function prepare(
  head: SessionHead,
  append: CheckedAppend,
  stored: readonly RecentEvent[],
  context: AppendContext,
): PreparedEvent[] {
  const count = append.events.length;
  const batchId = stored[0]?.id ?? append.events[0]!.event_id ?? context.newId();
  const idField = context.kind === 'sessions' ? 'session_id' : 'agent_id';
  const prepared: PreparedEvent[] = [];
  for (let index = stored.length; index < count; index++) {
    const { definition, payload, event_id } = append.events[index]!;
    const seq = head.lastSeq + 1 + index - stored.length;
    const envelope = {
      id: event_id ?? (index === 0 ? batchId : context.newId()),
      [idField]: head.id,
      seq,
      at: context.now(),
      type: definition.type,
      payload: definition.type === 'session/compacted' ? { ...(payload as object), upto_seq: seq - 1 } : payload,
      v: definition.v,
      ...(count > 1 ? { batch: { id: batchId, index, count } } : {}),
    };
    const body = Buffer.from(JSON.stringify(envelope));
    if (body.length > MAX_EVENT_BYTES) {
      throw new LogError(
        'too_large',
        `events[${index}] (${definition.type}) takes ${body.length} bytes; at most ${MAX_EVENT_BYTES} are stored`,
      );
    }
    prepared.push({ envelope, definition, body });
  }
  return prepared;
}
