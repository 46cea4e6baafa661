import { describe, expect, it } from '@jest/globals';
import { VirtualClock } from '@longrein/testing';
import { Limits } from './limits.js';
import type { Access } from './token-book.js';
import type { TokenLimits } from './token-rules.js';

const access = (limits: TokenLimits, token_id = 'token'): Access => ({ token_id, capabilities: new Set(), limits });

/** How many of a number of requests made at once are let through. */
function taken(limits: Limits, who: Access, requests: number): number {
  let count = 0;
  for (let i = 0; i < requests; i++) {
    try {
      limits.take(who);
      count++;
    } catch (error) {
      expect(error).toMatchObject({ code: 'limit_exceeded' });
    }
  }
  return count;
}

describe('Limits', () => {
  it('lets a burst through, then the rate, however the time between requests falls', async () => {
    const clock = new VirtualClock();
    const limits = new Limits(clock);
    const who = access({ requests_per_s: 10, burst: 25 });
    expect(taken(limits, who, 100)).toBe(25);
    await clock.advance(50);
    expect(taken(limits, who, 100)).toBe(0);
    await clock.advance(50);
    expect(taken(limits, who, 100)).toBe(1);
    let through = 0;
    for (let i = 0; i < 70; i++) {
      await clock.advance(i);
      through += taken(limits, who, 1);
    }
    // 2,415 ms at 10 a second.
    expect(through).toBe(24);
    await clock.advance(3_600_000);
    expect(taken(limits, who, 100)).toBe(25);
  });

  it('says how long to wait', async () => {
    const clock = new VirtualClock();
    const limits = new Limits(clock);
    const who = access({ requests_per_s: 0.5 });
    expect(taken(limits, who, 2)).toBe(1);
    expect(() => limits.take(who)).toThrow(expect.objectContaining({ retry_after_s: 2 }));
    await clock.advance(2_000);
    expect(taken(limits, who, 2)).toBe(1);
  });

  it('counts each token for itself, and one without a rate not at all', () => {
    const limits = new Limits(new VirtualClock());
    expect(taken(limits, access({ requests_per_s: 3 }, 'a'), 10)).toBe(3);
    expect(taken(limits, access({ requests_per_s: 3 }, 'b'), 10)).toBe(3);
    expect(taken(limits, access({}, 'c'), 10_000)).toBe(10_000);
  });

  it('counts the sessions a token is at, not its connections to them', () => {
    const limits = new Limits(new VirtualClock());
    const who = access({ sessions: 2 });
    const leave = [limits.enter(who, 'a'), limits.enter(who, 'a'), limits.enter(who, 'b')];
    expect(() => limits.enter(who, 'c')).toThrow(expect.objectContaining({ code: 'limit_exceeded' }));
    limits.enter(access({ sessions: 2 }, 'other'), 'c');
    leave[0]!();
    leave[0]!();
    expect(() => limits.enter(who, 'c')).toThrow(/2 sessions/);
    leave[1]!();
    limits.enter(who, 'c');
  });
});
