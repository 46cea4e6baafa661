import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { MAX_MISSED, WINDOW_EVENTS } from './limits.js';
import { type RecentEvent, SessionWindow } from './session-window.js';

function event(seq: number, type = 'turn/start', isFact = true): RecentEvent {
  const envelope = { id: `e${seq}`, seq, at: '', type, payload: {}, v: 1 };
  return { seq, id: `e${seq}`, type, at: '', fact: isFact ? envelope : undefined, bytes: isFact ? 100 : 0 };
}

const none: ReadonlySet<number> = new Set();

describe('SessionWindow', () => {
  it('answers like a plain list, whatever was pushed, trimmed and put in front', () => {
    const types = ['turn/start', 'turn/end', 'policy/updated'];
    fc.assert(
      fc.property(
        fc.array(fc.record({ type: fc.constantFrom(...types), fact: fc.boolean() }), { maxLength: 1200 }),
        fc.nat(1200),
        fc.nat(1300),
        (kinds, start, asked) => {
          const all = kinds.map(({ type, fact }, seq) => event(seq, type, fact));
          const from = Math.min(start, all.length);
          const window = new SessionWindow(from);
          for (const next of all.slice(from)) window.push(next);
          window.extend(all.slice(Math.max(0, window.from - 50), window.from));

          const seq = Math.max(asked, window.from - 1);
          const wanted = all.find((e) => e.seq > seq && e.fact && e.type === 'policy/updated');
          expect(window.firstFactAfter(seq, ['policy/updated'], none)?.seq).toBe(wanted?.seq);
          const missed = all.filter((e) => e.seq > seq && e.fact).map((e) => e.seq);
          const answer = window.missed(seq, all.length, none);
          expect(answer === 'truncated' ? answer : answer.map((e) => e.seq)).toEqual(
            missed.length > MAX_MISSED ? 'truncated' : missed,
          );
          for (const e of all) {
            expect(window.find(e.id, -1)?.seq).toBe(e.seq >= window.from ? e.seq : undefined);
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it('stays bounded', () => {
    const window = new SessionWindow(0);
    for (let seq = 0; seq < 5000; seq++) window.push(event(seq));
    expect(5000 - window.from).toBeLessThanOrEqual(WINDOW_EVENTS);
  });

  it('says that it cannot know what lies below it', () => {
    const window = new SessionWindow(10);
    window.push(event(10));
    expect(window.missed(5, 11, none)).toBe('truncated');
    expect(window.missed(9, 11, none)).toHaveLength(1);
  });
});
