import type { Clock } from '@longrein/clock';
import type { BaseEnvelope } from '@longrein/events';
import { LogError } from '../port/index.js';
import { LiveBuffer } from './live-buffer.js';
import type { LiveHub } from './live-hub.js';
import { PageFetcher } from './page-fetcher.js';
import type { ReadPage } from './pages.js';
import { Wakeup, onAbort } from './wakeup.js';

/** Limits of one follower. */
export interface FollowLimits {
  /** Live events held while older ones are read. Beyond it they are dropped and read later. */
  readonly buffered_events: number;
  readonly buffered_bytes: number;
  /** Silence after which a quiet session is read once, doubling up to the longest: core NATS may lose a message. */
  readonly first_recheck_ms: number;
  readonly longest_recheck_ms: number;
}

export const DEFAULT_FOLLOW: FollowLimits = {
  buffered_events: 2_048,
  buffered_bytes: 8 * 1024 * 1024,
  first_recheck_ms: 1_000,
  longest_recheck_ms: 60_000,
};

/** What a follower works with. */
export interface FollowDeps<Envelope extends BaseEnvelope> {
  readonly hub: Pick<LiveHub, 'attach'>;
  readonly subject: string;
  readonly readPage: ReadPage<Envelope>;
  readonly clock: Clock;
  readonly limits: FollowLimits;
}

/**
 * Replay then tail: subscribes first, then reads, and takes a live event only when its seq is the next one. Whatever is
 * missing in between (overflow, lost connection, lost message) is read. While the log service is down live events go on.
 */
export async function* follow<Envelope extends BaseEnvelope>(
  prepare: () => FollowDeps<Envelope>,
  from_seq: number,
  signal?: AbortSignal,
): AsyncGenerator<Envelope, void, void> {
  const deps = prepare();
  const { clock, limits } = deps;
  const buffer = new LiveBuffer(limits.buffered_events, limits.buffered_bytes);
  const wakeup = new Wakeup();
  const pages = new PageFetcher(deps.readPage, clock, () => wakeup.wake());
  let next = from_seq;
  let mustRead = true;
  let failure: Error | undefined;
  let recheck = limits.first_recheck_ms;

  const detach = deps.hub.attach(deps.subject, {
    stored(event, bytes) {
      if (event.seq < next) return;
      if (!buffer.add(event, bytes)) mustRead = true;
      wakeup.wake();
    },
    uncertain() {
      mustRead = true;
      wakeup.wake();
    },
    failed(error) {
      failure = error;
      wakeup.wake();
    },
  });
  const stopListening = onAbort(signal, () => wakeup.wake());
  const ended = (): boolean => signal?.aborted === true;

  try {
    while (!ended()) {
      if (failure) throw failure;
      const live = buffer.take(next);
      if (live) {
        next = live.seq + 1;
        recheck = limits.first_recheck_ms;
        yield live as Envelope;
        continue;
      }
      const page = pages.take();
      if (page) {
        const before = next;
        if (page.next_seq !== null) pages.fetch(page.next_seq);
        for (const event of page.events) {
          if (event.seq < next) continue;
          next = event.seq + 1;
          yield event;
          if (ended()) return;
        }
        // Chunks of ended turns may have expired: the page says how far it covers the session.
        next = Math.max(next, page.next_seq ?? page.last_seq + 1);
        buffer.forgetBelow(next);
        // Nothing new although something is missing: the answering replica does not know it yet.
        if (next === before && buffer.size > 0) pages.rest();
        continue;
      }
      if (pages.failed) mustRead = true;
      if (pages.idle && (mustRead || buffer.size > 0)) {
        mustRead = false;
        pages.fetch(next);
      }
      if (!(await wakeup.wait(clock, pages.idle ? recheck : undefined))) {
        mustRead = true;
        recheck = Math.min(limits.longest_recheck_ms, recheck * 2);
      }
    }
  } finally {
    stopListening();
    detach();
    pages.stop();
  }
}

/** Throws `invalid_event` for anything but a seq. */
export function assertSeq(value: unknown, name: string): asserts value is number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw new LogError('invalid_event', `${name} must be a non-negative integer, got ${String(value)}`);
  }
}
