import type { SessionLog } from '@longrein/log';
import { FrameError } from '../protocol/server-frames.js';
import type { Outbound } from './outbound.js';
import type { ReplayGate } from './replay-gate.js';

/** What a subscription needs. */
export interface SubscriptionDependencies {
  readonly log: SessionLog;
  readonly gate: ReplayGate;
  readonly outbound: Outbound;
  /** Newest events a replay may hold. */
  readonly replayLimit: number;
  /** Told the session's end as it becomes known. */
  readonly onSeq: (seq: number) => void;
}

const PAGE = 500;

/**
 * Replay then tail, from a seq on, until the signal aborts. The replay reads pages at the reader's speed; once it has
 * caught up with the session's end the tail follows. Rejects with `lagged` when the reader falls behind on the tail.
 */
export async function runSubscription(
  deps: SubscriptionDependencies,
  sessionId: string,
  fromSeq: number,
  signal: AbortSignal,
): Promise<void> {
  const { log, gate, outbound } = deps;
  const read = (from_seq: number, limit: number): ReturnType<SessionLog['read']> =>
    gate.run(() => log.read(sessionId, { from_seq, limit }, { signal }));

  const { last_seq } = await read(fromSeq, 1);
  let next = Math.max(fromSeq, last_seq + 1 - deps.replayLimit);
  if (next > fromSeq) outbound.send({ type: 'replay_truncated', requested_from_seq: fromSeq, from_seq: next });
  for (let end = last_seq; next <= end && !signal.aborted;) {
    const page = await read(next, PAGE);
    for (const event of page.events) {
      if (signal.aborted) return;
      await outbound.replay(event);
      next = event.seq + 1;
    }
    end = page.last_seq;
    deps.onSeq(end);
  }
  if (signal.aborted) return;
  for await (const event of log.follow(sessionId, { from_seq: next, signal })) {
    if (signal.aborted) return;
    deps.onSeq(event.seq);
    if (!outbound.live(event)) {
      throw new FrameError('lagged', `too slow for the live tail; subscribe again from_seq ${event.seq}`);
    }
  }
}
