import type { Clock } from '@longrein/clock';
import { type EventPage, type SessionLog, isLogError } from '@longrein/log';
import { FrameError } from '../protocol/server-frames.js';
import type { Outbound } from './outbound.js';

/** What a subscription needs. */
export interface SubscriptionDependencies {
  /** Its reads are history reads: they take slots of the replay gate. */
  readonly log: SessionLog;
  readonly outbound: Outbound;
  readonly clock: Clock;
  /** Newest events a replay may hold. */
  readonly replayLimit: number;
  /** Told the session's end as it becomes known. */
  readonly onSeq: (seq: number) => void;
}

const PAGE = 500;

/** Pauses between tries while the log cannot be reached. */
const FIRST_REST_MS = 100;
const LONGEST_REST_MS = 5_000;

/**
 * Replay then tail, from a seq on, until the signal aborts. The replay reads pages at the reader's speed; once
 * the reader is at the session's end the tail follows. While the log cannot be reached it waits. Rejects with `lagged`
 * when the reader falls behind on the tail.
 */
export async function runSubscription(
  deps: SubscriptionDependencies,
  sessionId: string,
  fromSeq: number,
  signal: AbortSignal,
): Promise<void> {
  const { log, outbound, clock } = deps;
  const read = (from_seq: number, limit: number): Promise<EventPage> =>
    patiently(() => log.read(sessionId, { from_seq, limit }, { signal }), clock, signal);

  const { last_seq } = await read(fromSeq, 1);
  let next = Math.max(fromSeq, last_seq + 1 - deps.replayLimit);
  if (signal.aborted) return;
  if (next > fromSeq) outbound.send({ type: 'replay_truncated', requested_from_seq: fromSeq, from_seq: next });
  for (let more = next <= last_seq; more;) {
    const page = await read(next, PAGE);
    let slow = false;
    for (const event of page.events) {
      if (signal.aborted) return;
      slow = (await outbound.paced(event)) || slow;
    }
    next = Math.max(next, page.next_seq ?? page.last_seq + 1);
    deps.onSeq(page.last_seq);
    // What was stored while a slow reader took its page is replay still, and never `lagged`.
    more = slow || next <= page.last_seq;
  }
  if (signal.aborted) return;
  for await (const event of log.follow(sessionId, { from_seq: next, signal })) {
    if (signal.aborted) return;
    deps.onSeq(event.seq);
    if (!outbound.live(event)) {
      throw new FrameError('lagged', `too slow for the live tail; connect and subscribe again from_seq ${event.seq}`);
    }
  }
}

/** Reads until there is an answer that waiting would not change. */
async function patiently(read: () => Promise<EventPage>, clock: Clock, signal: AbortSignal): Promise<EventPage> {
  for (let rest = FIRST_REST_MS; ; rest = Math.min(LONGEST_REST_MS, rest * 2)) {
    try {
      return await read();
    } catch (error) {
      if (signal.aborted || !isLogError(error) || !error.retryable) throw error;
    }
    await clock.sleep(rest, signal);
  }
}
