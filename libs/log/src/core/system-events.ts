import { type BaseEnvelope, type EventEnvelope, type StreamKind, definitionOf } from '@longrein/events';
import { LogError } from '../port/index.js';
import type { PreparedEvent } from './decide-append.js';
import type { Timestamp } from './timestamp.js';

/** Builds an event that the log writes of its own accord. */
export function systemEvent(
  kind: StreamKind,
  id: string,
  event: { id: string; seq: number; at: string; type: string; payload: unknown },
): PreparedEvent {
  const definition = definitionOf(kind, event.type)!;
  const idField = kind === 'sessions' ? 'session_id' : 'agent_id';
  return prepared({ ...head(event, idField, id), type: event.type, payload: event.payload, v: definition.v }, kind);
}

/** Seq 0 of a new session, or of an agent's stream. */
export function createdEvent(
  kind: StreamKind,
  id: string,
  options: { now: Timestamp; newId: () => string; parent_id?: string; fork?: { from: string; boundary: number } },
): PreparedEvent {
  const { parent_id, fork } = options;
  const type = kind === 'sessions' ? 'session/created' : 'agent/created';
  const payload =
    kind === 'sessions' ? { ...(parent_id === undefined ? {} : { parent_id }), ...(fork ? { fork } : {}) } : {};
  return systemEvent(kind, id, { id: options.newId(), seq: 0, at: options.now(), type, payload });
}

/** The copy of a parent's event in a fork: same seq, type, payload and time, under an id of the child's. */
export function forkedCopy(event: EventEnvelope, to: string): PreparedEvent {
  return prepared({ ...event, id: `fork:${to}:${event.seq}`, session_id: to, copied: true }, 'sessions');
}

/** What stands in a fork where the parent's chunk has expired, so that every later event keeps its seq. */
export function expiredChunk(seq: number, at: string, session_id: string): EventEnvelope {
  return { id: `expired:${seq}`, session_id, seq, at, type: 'assistant/chunk', payload: { text: '' }, v: 1 };
}

/** The event that closes a fork: from here on the child takes appends. */
export function forkedEvent(to: string, from: string, boundary: number, now: Timestamp): PreparedEvent {
  const seq = boundary + 1;
  const payload = { from, boundary };
  return systemEvent('sessions', to, { id: `fork:${to}:${seq}`, seq, at: now(), type: 'session/forked', payload });
}

/**
 * Where a fork really ends: the last fact at or below the wanted seq after which no turn is open. A child that began in
 * the middle of a turn would owe what nobody can pay.
 *
 * @param facts the parent's facts, ascending
 */
export function forkBoundary(facts: Iterable<BaseEnvelope>, wanted: number | undefined): number {
  if (wanted !== undefined && (!Number.isSafeInteger(wanted) || wanted < 0)) {
    throw new LogError('invalid_event', `boundary must be an integer from 0, got ${JSON.stringify(wanted)}`);
  }
  let boundary = 0;
  let open = false;
  for (const fact of facts) {
    if (wanted !== undefined && fact.seq > wanted) break;
    if (fact.type === 'turn/start') open = true;
    if (fact.type === 'turn/end') open = false;
    if (!open) boundary = fact.seq;
  }
  return boundary;
}

function head(event: { id: string; seq: number; at: string }, idField: string, id: string): object {
  return { id: event.id, [idField]: id, seq: event.seq, at: event.at };
}

function prepared(envelope: object, kind: StreamKind): PreparedEvent {
  const event = envelope as BaseEnvelope;
  const definition = definitionOf(kind, event.type);
  if (!definition) throw new LogError('invalid_event', `type ${event.type} is newer than this log service; update it`);
  return { envelope: event, definition, body: Buffer.from(JSON.stringify(event)) };
}
