import type { LogClient } from '@longrein/log/client';
import type { NewEvent } from '@longrein/log';
import { BUSY, sessionIn } from './deployment.js';

/** Events in flight, one an append or several: the same for plain publishes and for appends. */
export const WINDOW = 512;

const TEXT = 'Please look at the failing build, find the commit that broke it, and write down what you saw. '
  .repeat(3)
  .slice(0, 240);

let inputs = 0;

/** An event of ordinary size. */
export function inputEvent(): NewEvent {
  return { type: 'input/queued', payload: { input_id: `input-${inputs++}`, text: TEXT, wake: true } };
}

/** A session with one writer, which therefore knows the seq of what it sends next. */
export interface Writer {
  readonly id: string;
  last: number;
}

/** Creates a session. */
export async function writer(log: LogClient, name: string, partition: number = BUSY): Promise<Writer> {
  const id = sessionIn(partition, name);
  const { last_seq } = await log.create(id);
  return { id, last: last_seq };
}

/** Sends one append without waiting for the ones before it. Throws when it was not stored where it must be. */
export async function append(log: LogClient, target: Writer, batch: number): Promise<void> {
  const since = target.last;
  target.last += batch;
  const { seq } = await log.append(target.id, { events: Array.from({ length: batch }, inputEvent), since });
  if (seq !== since + batch) throw new Error(`${target.id}: stored at seq ${seq}, not at ${since + batch}`);
}

/** Runs `step` again and again, `lanes` of them at once, until `steps` have been made. */
export async function inLanes(lanes: number, steps: number, step: (n: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < steps) await step(next++);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

/** Appends `events` events to the sessions in turns, in batches, with `WINDOW` events in flight. */
export async function fill(log: LogClient, targets: readonly Writer[], events: number, batch: number): Promise<void> {
  await inLanes(Math.max(1, Math.floor(WINDOW / batch)), Math.ceil(events / batch), (n) =>
    append(log, targets[n % targets.length]!, batch),
  );
}
