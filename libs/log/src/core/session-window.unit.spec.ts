import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { MAX_MISSED, WINDOW_BYTES, WINDOW_EVENTS } from './limits.js';
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

  it('keeps ids and types of more events than envelopes', () => {
    const window = new SessionWindow(0);
    const bytes = WINDOW_BYTES / 4;
    for (let seq = 0; seq < 100; seq++) window.push({ ...event(seq), bytes });
    expect(window.from).toBe(0);
    expect(window.find('e0', -1)).toMatchObject({ seq: 0, type: 'turn/start', fact: 'dropped' });
    expect(window.firstFactAfter(10, ['turn/start'], none)?.seq).toBe(11);
    expect(window.missed(95, 100, none)).toHaveLength(4);
    expect(window.missed(94, 100, none)).toBe('truncated');
  });

  it('keeps of what is put in front the envelopes that fit', () => {
    const window = new SessionWindow(100);
    window.push(event(100));
    window.extend(Array.from({ length: 100 }, (_, seq) => ({ ...event(seq), bytes: WINDOW_BYTES / 4 })));
    expect(window.from).toBe(0);
    expect(window.find('e0', -1)?.fact).toBe('dropped');
    expect(window.missed(97, 101, none)).toHaveLength(3);
    expect(window.missed(90, 101, none)).toBe('truncated');
  });

  it('drops nothing while it is held, however much is pushed, and what was put in front not at the next push', () => {
    const window = new SessionWindow(2_000);
    const release = window.hold();
    for (let seq = 2_000; seq < 4_000; seq++) window.push(event(seq));
    expect(window.from).toBe(2_000);
    window.extend(Array.from({ length: 2_000 }, (_, seq) => event(seq)));
    release();
    for (let seq = 4_000; seq < 4_000 + WINDOW_EVENTS; seq++) window.push(event(seq));
    expect(window.find('e0', -1)?.seq).toBe(0);
    window.push(event(4_000 + WINDOW_EVENTS));
    expect(window.from).toBe(4_001 + WINDOW_EVENTS / 2);
    expect(window.find('e0', -1)).toBeUndefined();
  });
});
