import { describe, expect, it } from '@jest/globals';
import type { BaseEnvelope } from '@longrein/events';
import { VirtualClock } from '@longrein/testing';
import fc from 'fast-check';
import { type EventPage, LogError } from '../port/index.js';
import { DEFAULT_FOLLOW, follow } from './follower.js';
import type { LiveListener } from './live-hub.js';

const event = (seq: number): BaseEnvelope => ({ id: `e${seq}`, seq, at: '', type: 'x/y', payload: {}, v: 1 });

/** What happens to a session and to what its follower hears of it. */
type Step =
  /** So many events are stored; of their live messages those in the mask are lost. */
  | { readonly kind: 'store'; readonly count: number; readonly lost: number }
  | { readonly kind: 'repeat'; readonly back: number }
  | { readonly kind: 'reconnect' }
  /** Reads fail, or come from a replica that lags behind, so many times. */
  | { readonly kind: 'refuse'; readonly times: number }
  | { readonly kind: 'lag'; readonly times: number; readonly behind: number }
  | { readonly kind: 'pass'; readonly ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('store' as const), count: fc.integer({ min: 1, max: 9 }), lost: fc.nat(511) }),
  fc.record({ kind: fc.constant('repeat' as const), back: fc.nat(20) }),
  fc.record({ kind: fc.constant('reconnect' as const) }),
  fc.record({ kind: fc.constant('refuse' as const), times: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ kind: fc.constant('lag' as const), times: fc.integer({ min: 1, max: 3 }), behind: fc.nat(5) }),
  fc.record({ kind: fc.constant('pass' as const), ms: fc.nat(3_000) }),
);

/** A session in memory behind an unreliable network. */
class Session {
  stored = 0;
  listener: LiveListener | undefined;
  #refusals = 0;
  #lags = 0;
  #behind = 0;

  readonly hub = {
    attach: (_: string, listener: LiveListener) => {
      this.listener = listener;
      return () => (this.listener = undefined);
    },
  };

  readonly readPage = async (from: number): Promise<EventPage<BaseEnvelope>> => {
    if (this.#refusals > 0) {
      this.#refusals--;
      throw new LogError('unavailable', 'no owner');
    }
    const known = this.#lags > 0 ? Math.max(1, this.stored - this.#behind) : this.stored;
    if (this.#lags > 0) this.#lags--;
    const events = Array.from({ length: Math.min(3, Math.max(0, known - from)) }, (_, i) => event(from + i));
    const next = from + events.length;
    return { events, next_seq: next < known ? next : null, last_seq: known - 1 };
  };

  apply(step: Step): void {
    if (step.kind === 'store') {
      for (let i = 0; i < step.count; i++) {
        const seq = this.stored++;
        if ((step.lost & (1 << i)) === 0) this.listener?.stored(event(seq), 100);
      }
    } else if (step.kind === 'repeat') {
      this.listener?.stored(event(Math.max(0, this.stored - 1 - step.back)), 100);
    } else if (step.kind === 'reconnect') {
      this.listener?.uncertain();
    } else if (step.kind === 'refuse') {
      this.#refusals = step.times;
    } else if (step.kind === 'lag') {
      this.#lags = step.times;
      this.#behind = step.behind;
    }
  }
}

describe('follow', () => {
  it('gives every event once and in order whatever gets lost, repeated, refused or delayed (LOG-13)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 25 }),
        fc.nat(10),
        fc.integer({ min: 1, max: 12 }),
        async (steps, from, buffered_events) => {
          const session = new Session();
          session.stored = 1;
          const clock = new VirtualClock();
          const abort = new AbortController();
          const limits = { ...DEFAULT_FOLLOW, buffered_events };
          const deps = { hub: session.hub, subject: 's', readPage: session.readPage, clock, limits };
          const seen: number[] = [];
          const following = (async () => {
            for await (const { seq } of follow(() => deps, from, abort.signal)) seen.push(seq);
          })();
          for (const current of steps) {
            session.apply(current);
            await clock.advance(current.kind === 'pass' ? current.ms : 0);
          }
          // Whatever was lost: the longest recheck later the follower has it, lags and refusals included.
          await clock.advance(3 * limits.longest_recheck_ms);
          abort.abort();
          await following;
          expect(session.listener).toBeUndefined();
          expect(clock.pending).toBe(0);
          expect(seen).toEqual(Array.from({ length: Math.max(0, session.stored - from) }, (_, i) => from + i));
        },
      ),
      { numRuns: 150 },
    );
  });

  it('throws what is final, and only that', async () => {
    const session = new Session();
    const readPage = async (): Promise<never> => Promise.reject(new LogError('unknown_session', 'no s'));
    const deps = { hub: session.hub, subject: 's', readPage, clock: new VirtualClock(), limits: DEFAULT_FOLLOW };
    await expect(follow(() => deps, 0).next()).rejects.toMatchObject({ code: 'unknown_session' });
    expect(session.listener).toBeUndefined();
  });
});
