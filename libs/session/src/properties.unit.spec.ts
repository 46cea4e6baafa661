import type { EventEnvelope, PayloadOf, SessionEventType } from '@longrein/events';
import { MODEL_VISIBLE } from '@longrein/events';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  callGroups,
  derivedRequestDigest,
  evolve,
  fold,
  history,
  historyDigest,
  initialState,
  pendingApprovals,
  restore,
  snapshot,
  stateDigest,
  status,
  usage,
} from './index.js';
import { Journal, legalLog, perform, Runner, says, scripted, sessionScript, traitsOf } from './testing/index.js';

const RUNS = { numRuns: 400 };

function payloadsOf<Type extends SessionEventType>(events: readonly EventEnvelope[], type: Type): PayloadOf<Type>[] {
  return events.filter((event) => event.type === type).map((event) => event.payload as PayloadOf<Type>);
}

describe('every fold of a legal log', () => {
  it('gives the same state in one go, in two parts, and from a snapshot that went through JSON', () => {
    fc.assert(
      fc.property(legalLog, fc.nat(), (events, at) => {
        const cut = at % (events.length + 1);
        const whole = fold(events);
        const first = fold(events.slice(0, cut));
        const rest = events.slice(cut);
        expect(fold(rest, first)).toEqual(whole);
        const revived = restore(JSON.parse(JSON.stringify(snapshot(first))));
        expect(stateDigest(fold(rest, revived ?? initialState()))).toBe(stateDigest(whole));
      }),
      RUNS,
    );
  });

  it('accepts every prefix, never mutates, and ignores events it has seen', () => {
    fc.assert(
      fc.property(legalLog, (events) => {
        let state = initialState();
        for (const event of events) {
          const before = stateDigest(state);
          const next = evolve(state, event);
          expect(stateDigest(state)).toBe(before);
          expect(evolve(next, event)).toBe(next);
          state = next;
        }
        expect(state.last_seq).toBe(events.length - 1);
        expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index));
      }),
      { numRuns: 100 },
    );
  });

  it('keeps history equal to a naive projection, and its digest to that of the list (PRJ-01, PRJ-03, PRJ-05, PRJ-08)', () => {
    fc.assert(
      fc.property(legalLog, (events) => {
        const state = fold(events);
        expect(history(state)).toEqual(naiveHistory(events));
        expect(state.history.digest).toBe(historyDigest(history(state)));
      }),
      RUNS,
    );
  });

  it('sums usage as a naive sum does (CST-01, CST-02, CST-03)', () => {
    fc.assert(
      fc.property(legalLog, (events) => {
        const ends = payloadsOf(events, 'step/end').map((payload) => payload.usage);
        const sum = (of: (used: NonNullable<(typeof ends)[number]>) => number) =>
          ends.reduce((total, used) => total + (used === undefined ? 0 : of(used)), 0);
        expect(usage(fold(events))).toEqual({
          prompt_tokens: sum((used) => used.prompt_tokens),
          completion_tokens: sum((used) => used.completion_tokens),
          cost: sum((used) => used.cost ?? 0),
          steps: ends.length,
        });
      }),
      RUNS,
    );
  });

  it('holds no tool result without its call, and every answered call once, in call order', () => {
    fc.assert(
      fc.property(legalLog, (events) => {
        let owed: string[] = [];
        for (const item of history(fold(events))) {
          if (item.role === 'assistant') {
            expect(owed).toEqual([]);
            owed = item.parts.flatMap((part) => (part.type === 'tool_call' ? [part.id] : []));
          } else if (item.role === 'tool') {
            expect(owed.shift()).toBe(item.id);
          } else {
            expect(owed).toEqual([]);
          }
        }
        if (fold(events).turn === null) expect(owed).toEqual([]);
      }),
      RUNS,
    );
  });

  it('shows idle exactly when no turn is open', () => {
    fc.assert(
      fc.property(legalLog, (events) => {
        const open = events.findLast(({ type }) => type === 'turn/start' || type === 'turn/end')?.type === 'turn/start';
        expect(status(fold(events)) !== 'idle').toBe(open);
      }),
      RUNS,
    );
  });
});

describe('every log that the decisions lead to', () => {
  it('consumes each input at most once, and names only inputs that were queued', () => {
    fc.assert(
      fc.property(legalLog, (events) => {
        const queued = payloadsOf(events, 'input/queued');
        const promotes = new Map(queued.map(({ input_id, grant }) => [input_id, grant?.promotes]));
        const carried = [...payloadsOf(events, 'user/message'), ...payloadsOf(events, 'context/injected')];
        const consumed = carried.flatMap(({ input_id }) => [input_id, promotes.get(input_id) ?? []].flat());
        expect(new Set(consumed).size).toBe(consumed.length);
        for (const id of consumed) expect([...promotes.keys()]).toContain(id);
        const waiting = fold(events).inbox.map(({ input_id }) => input_id);
        expect(waiting.filter((id) => consumed.includes(id))).toEqual([]);
      }),
      RUNS,
    );
  });

  it('has one turn at a time, ended once with one of five statuses, of at most 25 steps (TRN-03, TRN-19, RES-21)', () => {
    fc.assert(
      fc.property(legalLog, (events) => {
        let open: string | null = null;
        let steps = 0;
        for (const { type, payload } of events) {
          const { turn_id, n } = payload as { turn_id?: string; n?: number };
          if (type === 'turn/start') {
            expect(open).toBeNull();
            open = turn_id ?? null;
            steps = 0;
          } else if (type === 'turn/end') {
            expect(turn_id).toBe(open);
            open = null;
          } else if (type === 'step/start') {
            expect(n).toBe(++steps);
            expect(steps).toBeLessThanOrEqual(25);
          }
        }
      }),
      RUNS,
    );
  });

  it('records in every complete claim the digest that a replay derives, after the claim’s last event', () => {
    fc.assert(
      fc.property(legalLog, (events) => {
        for (const event of events) {
          if (event.type !== 'step/start') continue;
          const { batch } = event;
          const last = event.seq + (batch === undefined ? 0 : batch.count - 1 - batch.index);
          const end = events[last];
          if (end === undefined || end.batch?.id !== batch?.id) continue;
          const step = event.payload as PayloadOf<'step/start'>;
          expect(derivedRequestDigest(fold(events.slice(0, last + 1)), step)).toBe(step.request_digest);
        }
      }),
      { numRuns: 150 },
    );
  });

  it('runs no call twice that may not be repeated, and none without its verdict', () => {
    fc.assert(
      fc.property(sessionScript, (script) => {
        const { executed, journal } = perform(script);
        for (const { name, attempt } of executed) if (name === 'pay') expect(attempt).toBe(1);
        const approved = new Set(
          payloadsOf(journal.events, 'approval/resolved')
            .filter((payload) => payload.verdict === 'approved')
            .map((payload) => (journal.events[payload.request_seq]?.payload as { call_seq: number }).call_seq),
        );
        for (const { name, call_seq } of executed) if (name === 'ask') expect(approved).toContain(call_seq);
      }),
      RUNS,
    );
  });

  it('comes to rest, with nothing owed, once nobody interferes and every request gets a verdict (APR-21)', () => {
    fc.assert(
      fc.property(sessionScript, (script) => {
        const runner = perform({
          ...script,
          replies: [...script.replies.slice(0, 3), [{ type: 'text', text: 'done' }]],
        });
        const { journal } = runner;
        if (journal.state.turn !== null) {
          journal.put('turn/cancel_requested', { turn_id: journal.state.turn.turn_id });
          runner.die();
          expect(runner.takeOver()).toBe('resume');
        }
        const isOver = () => journal.state.turn === null;
        for (let ticks = 0; !isOver() && ticks < 50; ticks++) runner.tick();
        expect(status(journal.state)).toBe('idle');
        const calls = payloadsOf(journal.events, 'tool/call').length;
        expect(payloadsOf(journal.events, 'tool/result')).toHaveLength(calls);
      }),
      RUNS,
    );
  });
});

describe('a loop that dies after any event of any log', () => {
  it('is resumed, answers every call once, and comes to rest', () => {
    fc.assert(
      fc.property(legalLog, fc.nat(), (events, at) => {
        const journal = Journal.of(events.slice(0, 1 + (at % events.length)));
        const runner = new Runner(scripted([says('done')]), journal);
        runner.epoch = 1000;
        if (journal.state.turn !== null) runner.takeOver();
        for (let round = 0; round < 40 && (journal.state.turn !== null || round === 0); round++) {
          const { kind } = runner.run();
          if (kind === 'rest') break;
          for (const { call_id, request_seq } of pendingApprovals(journal.state)) {
            journal.put('approval/resolved', { call_id, request_seq, verdict: 'approved' });
          }
          if (kind === 'stalled') journal.put('input/queued', { input_id: `w${round}`, text: 'go on', wake: true });
          runner.wake();
        }
        expect(status(journal.state)).toBe('idle');
        const answered = payloadsOf(journal.events, 'tool/result').map((payload) => payload.call_seq);
        const called = journal.events.filter(({ type }) => type === 'tool/call').map(({ seq }) => seq);
        expect(answered).toEqual(called);
      }),
      RUNS,
    );
  });
});

describe('groups of calls', () => {
  it('hold every call once, in order, and only parallel calls share one (TLP-12)', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('p', 's')), (names) => {
        const groups = callGroups(
          names.map((name) => ({ name })),
          (name) => traitsOf({ concurrency: name === 'p' ? 'parallel' : 'serial' }),
        );
        expect(groups.flat().map(({ name }) => name)).toEqual(names);
        for (const group of groups) if (group.length > 1) expect(group.every(({ name }) => name === 'p')).toBe(true);
        groups.slice(1).forEach((group, index) => {
          expect([groups[index]?.[0]?.name, group[0]?.name]).not.toEqual(['p', 'p']);
        });
      }),
    );
  });
});

/** The projection as the vocabulary words it, over the whole log at once. */
function naiveHistory(events: readonly EventEnvelope[]): unknown[] {
  const boundary = events.findLast((event) => event.type === 'session/compacted');
  const { upto_seq: uptoSeq = -1, summary } = (boundary?.payload ?? {}) as { upto_seq?: number; summary?: string };
  const visible = events.filter(
    ({ seq, type }) => seq > uptoSeq && type !== 'session/compacted' && (MODEL_VISIBLE as string[]).includes(type),
  );
  const items = visible.map(({ type, payload }) => {
    const { text, parts, id, content, error } = payload as Record<string, unknown>;
    if (type === 'assistant/message') return { role: 'assistant', parts };
    if (type === 'tool/result') return { role: 'tool', id, content, error };
    return { role: 'user', text, source: type === 'user/message' ? 'user' : 'injected' };
  });
  return boundary === undefined ? items : [{ role: 'user', text: summary, source: 'summary' }, ...items];
}
