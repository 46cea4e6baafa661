import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { type BaseEnvelope, type EventEnvelope, partitionOf } from '@longrein/events';
import { type AppendRequest, type EventLog, type LogErrorCode, type NewEvent, LogError } from '../port/index.js';
import type { LogHarness, OpenLog } from './harness.js';

/** An id nobody used before. */
export function freshId(): string {
  return `s-${randomUUID()}`;
}

/** A fresh id that lives in this partition. */
export function freshIdIn(partition: number, partitions: number): string {
  for (;;) {
    const id = freshId();
    if (partitionOf(id, partitions) === partition) return id;
  }
}

/** A new session that holds nothing but its first event. */
export async function newSession(log: OpenLog, id: string = freshId()): Promise<string> {
  await log.as('gateway').create(id);
  return id;
}

/** An `input/queued` (gateway): a fact of family `input`. */
export function input(text = 'hello'): NewEvent {
  return { type: 'input/queued', payload: { input_id: randomUUID(), text, wake: false } };
}

/** A `turn/cancel_requested` (gateway): another fact of family `input`. */
export function cancel(turnId = 't1'): NewEvent {
  return { type: 'turn/cancel_requested', payload: { turn_id: turnId } };
}

/** A `session/model_selected` (gateway): a fact of family `session`. */
export function select(model = 'test/model'): NewEvent {
  return { type: 'session/model_selected', payload: { role: 'main', model } };
}

/** An `assistant/chunk` (worker, which needs no epoch): no fact. */
export function chunk(text = 'tok'): NewEvent {
  return { type: 'assistant/chunk', payload: { text } };
}

/** A `tool/call` (worker) with these arguments: content of any shape. */
export function call(args: unknown, name = 'search', id = 'c1'): NewEvent {
  return { type: 'tool/call', payload: { id, name, args } };
}

/** A `turn/start` (loop, worker). */
export function turnStart(turnId = 't1'): NewEvent {
  return { type: 'turn/start', payload: { turn_id: turnId, agent: 'a1', epoch: 0 } };
}

/** A `turn/end` (loop, worker). */
export function turnEnd(turnId = 't1'): NewEvent {
  return { type: 'turn/end', payload: { turn_id: turnId, status: 'completed' } };
}

/** The event under an id of its caller's. */
export function identified(event: NewEvent, event_id: string = randomUUID()): NewEvent & { event_id: string } {
  return { ...event, event_id };
}

/** An append of these events by a caller who has seen nothing. */
export function appendOf(...events: NewEvent[]): AppendRequest {
  return { events, since: -1 };
}

/** Appends events one by one. */
export async function appendEach(log: EventLog, id: string, events: readonly NewEvent[]): Promise<void> {
  for (const event of events) await log.append(id, appendOf(event));
}

/** Appends many events in batches, as a caller who has seen everything: however long the session is, it costs little. */
export async function appendMany(log: EventLog, id: string, events: readonly NewEvent[]): Promise<void> {
  let since = (await log.read(id, { from_seq: 0, limit: 1 })).last_seq;
  for (let at = 0; at < events.length; at += 64) {
    since = (await log.append(id, { events: events.slice(at, at + 64), since })).seq;
  }
}

/** Everything a session holds, page by page. */
export async function readAll<Envelope extends BaseEnvelope = EventEnvelope>(
  log: EventLog<Envelope>,
  id: string,
  options: { from_seq?: number; limit?: number; facts_only?: boolean } = {},
): Promise<Envelope[]> {
  const all: Envelope[] = [];
  for (let from: number | null = options.from_seq ?? 0; from !== null;) {
    const page = await log.read(id, { ...options, from_seq: from });
    if (page.next_seq !== null && page.next_seq <= from)
      throw new Error(`read from ${from} went on at ${page.next_seq}`);
    all.push(...page.events);
    from = page.next_seq;
  }
  return all;
}

/** The error an operation was refused with; fails when it was not, or not with a `LogError` of this code. */
export async function refusal(operation: Promise<unknown>, code: LogErrorCode): Promise<LogError> {
  const outcome = await operation.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if (!('error' in outcome)) throw new Error(`expected ${code}, but it answered ${JSON.stringify(outcome.value)}`);
  const { error } = outcome;
  if (!(error instanceof LogError)) throw error;
  expect({ code: error.code, message: error.message }).toEqual({ code, message: error.message });
  expect(error.message).not.toBe('');
  return error;
}

/** Takes items until one of them is the last one wanted. */
export async function takeUntil<Item>(items: AsyncIterable<Item>, isLast: (item: Item) => boolean): Promise<Item[]> {
  const taken: Item[] = [];
  for await (const item of items) {
    taken.push(item);
    if (isLast(item)) break;
  }
  return taken;
}

/** Takes that many items. */
export async function take<Item>(items: AsyncIterable<Item>, count: number): Promise<Item[]> {
  let taken = 0;
  return takeUntil(items, () => ++taken === count);
}

/** Seqs of events. */
export function seqs(events: readonly BaseEnvelope[]): number[] {
  return events.map((event) => event.seq);
}

/** 0, 1, ... n - 1. */
export function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}

/** A test of what only some harnesses can do. */
export function itCan(harness: LogHarness, what: 'restartOwner' | 'storePrefix'): typeof it | typeof it.skip {
  return harness.can?.[what] === false ? it.skip : it;
}
