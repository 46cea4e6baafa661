import {
  type EventDefinition,
  type ServiceName,
  type StreamKind,
  FLEET_ID,
  definitionOf,
  isValidId,
  partitionOf,
} from '@longrein/events';
import { type AppendRequest, type Expectation, type NewEvent, LogError } from '../port/index.js';
import { MAX_BATCH, MAX_NONE_OF } from './limits.js';
import type { Scrubber } from './scrubber.js';
import { assertStorable } from './storable.js';

/** An event that passed the boundary: what is in it is what is stored. */
export interface CheckedEvent {
  readonly definition: EventDefinition;
  readonly payload: unknown;
  /** The caller's id, if it gave one. */
  readonly event_id: string | undefined;
}

/** An append that passed the boundary. */
export interface CheckedAppend {
  readonly events: readonly CheckedEvent[];
  readonly expect: Expectation | undefined;
  readonly epoch: number | undefined;
  readonly since: number;
}

const EVENT_ID = /^[!-~]{1,128}$/;

/**
 * Everything the log checks before it looks at the session: shape, who may append what, schemas, storable values;
 * then scrubs. Throws `invalid_event`, naming what was wrong. Sizes are checked once the envelope is known.
 */
export function checkAppend(
  kind: StreamKind,
  service: ServiceName,
  request: AppendRequest,
  scrubber: Scrubber,
): CheckedAppend {
  if (typeof request !== 'object' || request === null) throw invalid('the request must be a JSON object');
  const { events, expect, epoch, since } = request;
  if (!Array.isArray(events) || events.length < 1 || events.length > MAX_BATCH) {
    throw invalid(`events must be an array of 1 to ${MAX_BATCH}, got ${describe(events)}`);
  }
  if (!isInteger(since, -1)) throw invalid(`since must be an integer from -1, got ${describe(since)}`);
  if (epoch !== undefined && !isInteger(epoch, 0)) {
    throw invalid(`epoch must be an integer from 0, got ${describe(epoch)}`);
  }
  const ids = new Set<string>();
  return {
    events: (events as readonly NewEvent[]).map((event, i) => checkEvent(kind, service, event, i, ids, scrubber)),
    expect: checkExpectation(expect),
    epoch,
    since,
  };
}

/** Throws `invalid_event` unless the id can name a session, or an agent, or is the fleet's. */
export function checkId(kind: StreamKind, id: unknown): asserts id is string {
  if (isValidId(id) || (kind === 'agents' && id === FLEET_ID)) return;
  const what = kind === 'agents' ? 'agent_id' : 'session_id';
  throw invalid(`${what} must be 1-128 characters of A-Z a-z 0-9 _ -, got ${describe(id)}`);
}

/**
 * Throws `invalid_event` unless the id is valid and lies in this partition. A client that computes places wrongly, or
 * with another partition count, would otherwise make a second session of the same name that nobody else finds.
 */
export function checkPlace(kind: StreamKind, id: unknown, partition: number, partitions: number): asserts id is string {
  checkId(kind, id);
  const place = id === FLEET_ID ? 0 : partitionOf(id, partitions);
  if (place === partition) return;
  throw invalid(`${id} lies in partition ${place} of ${partitions}, not in ${partition}: ask log.${kind}.${place}`);
}

function checkExpectation(expect: Expectation | undefined): Expectation | undefined {
  if (expect === undefined) return undefined;
  if (typeof expect !== 'object' || expect === null) throw invalid(`expect must be an object, got ${describe(expect)}`);
  if (!isInteger(expect.seq, -1)) throw invalid(`expect.seq must be an integer from -1, got ${describe(expect.seq)}`);
  const { none_of } = expect;
  if (none_of !== undefined && !(Array.isArray(none_of) && none_of.every((type) => typeof type === 'string'))) {
    throw invalid(`expect.none_of must be an array of event types, got ${describe(none_of)}`);
  }
  if (none_of && none_of.length > MAX_NONE_OF) {
    throw invalid(`expect.none_of names ${none_of.length} types; at most ${MAX_NONE_OF} are taken`);
  }
  return expect;
}

function checkEvent(
  kind: StreamKind,
  service: ServiceName,
  event: NewEvent,
  index: number,
  ids: Set<string>,
  scrubber: Scrubber,
): CheckedEvent {
  const where = `events[${index}]`;
  if (typeof event !== 'object' || event === null) throw invalid(`${where} must be an object, got ${describe(event)}`);
  const definition = typeof event.type === 'string' ? definitionOf(kind, event.type) : undefined;
  if (!definition) throw invalid(`${where}.type ${describe(event.type)} is not in the vocabulary`);
  if (!definition.by.includes(service)) {
    throw invalid(`${where}: ${service} may not append ${definition.type}; only ${definition.by.join(', ')} may`);
  }
  const { event_id } = event;
  if (event_id !== undefined) {
    if (typeof event_id !== 'string' || !EVENT_ID.test(event_id)) {
      throw invalid(`${where}.event_id must be 1-128 printable ASCII characters, got ${describe(event_id)}`);
    }
    if (ids.has(event_id)) throw invalid(`${where}.event_id ${describe(event_id)} stands twice in the append`);
    ids.add(event_id);
  }
  assertStorable(event.payload, `${where}.payload`);
  const parsed = definition.schema.safeParse(event.payload);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw invalid(
      `${where}: payload of ${definition.type} is wrong at ${path(issue?.path)}: ${shortened(issue?.message ?? 'unknown')}`,
    );
  }
  return { definition, payload: scrubber.content(definition.content, parsed.data), event_id };
}

function isInteger(value: unknown, least: number): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= least;
}

function path(parts: readonly PropertyKey[] | undefined): string {
  return parts && parts.length > 0 ? parts.map(String).join('.').slice(0, 200) : 'its root';
}

function describe(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'string') return shortened(JSON.stringify(value.slice(0, 100)), 80);
  // Not its content: it may be nested deeper than the stack reaches.
  if (typeof value === 'object' && value !== null) return 'an object';
  return String(value);
}

/** Replies have a limit too, and what is wrong may be as long as the request. */
function shortened(text: string, limit = 400): string {
  return text.length > limit ? `${text.slice(0, limit)}…` : text;
}

function invalid(message: string): LogError {
  return new LogError('invalid_event', message);
}
