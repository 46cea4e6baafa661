import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { ToolOutcome } from '../port/index.js';
import { groupCalls } from './grouping.js';
import { runGroup, type Completion } from './run-group.js';

/** Calls that end when the test says so; tells how many overlap. */
class Bench {
  readonly started: string[] = [];
  running = 0;
  peak = 0;
  readonly #ends = new Map<string, PromiseWithResolvers<ToolOutcome>>();

  readonly run = async (call: string): Promise<ToolOutcome> => {
    this.started.push(call);
    this.running += 1;
    this.peak = Math.max(this.peak, this.running);
    try {
      return await this.#end(call).promise;
    } finally {
      this.running -= 1;
    }
  };

  end(call: string): void {
    this.#end(call).resolve({ content: call, error: null });
  }

  fail(call: string): void {
    this.#end(call).reject(new Error(`${call} broke`));
  }

  #end(call: string): PromiseWithResolvers<ToolOutcome> {
    let end = this.#ends.get(call);
    if (!end) this.#ends.set(call, (end = Promise.withResolvers<ToolOutcome>()));
    return end;
  }
}

async function all(completions: AsyncIterable<Completion<string>>): Promise<Completion<string>[]> {
  const got: Completion<string>[] = [];
  for await (const completion of completions) got.push(completion);
  return got;
}

describe('groupCalls', () => {
  it('TLP-12: P P S P P gives three groups', () => {
    const groups = groupCalls(['p1', 'p2', 's3', 'p4', 'p5'], (call) => (call[0] === 'p' ? 'parallel' : 'serial'));
    expect(groups).toEqual([['p1', 'p2'], ['s3'], ['p4', 'p5']]);
  });

  it('TLP-11: what names no concurrency stands alone', () => {
    expect(groupCalls(['a', 'b'], () => undefined)).toEqual([['a'], ['b']]);
  });

  it('keeps every call, in order, and serial calls alone', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean()), (kinds) => {
        const calls = kinds.map((parallel, index) => ({ parallel, index }));
        const groups = groupCalls(calls, (call) => (call.parallel ? 'parallel' : 'serial'));
        expect(groups.flat()).toEqual(calls);
        for (const group of groups) expect(group.length === 1 || group.every((call) => call.parallel)).toBe(true);
        for (const [i, group] of groups.entries()) {
          if (i > 0) expect(group[0]?.parallel && groups[i - 1]?.[0]?.parallel).toBeFalsy();
        }
      }),
    );
  });
});

describe('runGroup', () => {
  it('TLP-10, TLP-14: calls overlap; outcomes come in completion order with their place', async () => {
    const bench = new Bench();
    const completions = runGroup(['a', 'b'], bench.run);
    const first = completions.next();
    expect(bench.started).toEqual(['a', 'b']);
    bench.end('b');
    expect((await first).value).toEqual({ call: 'b', index: 1, outcome: { content: 'b', error: null } });
    bench.end('a');
    expect((await completions.next()).value).toMatchObject({ call: 'a', index: 0 });
    expect((await completions.next()).done).toBe(true);
  });

  it.each([3, 1])('TLP-16: a call that throws leaves its siblings alone (%i at once)', async (limit) => {
    const bench = new Bench();
    bench.end('a');
    bench.fail('b');
    bench.end('c');
    const got = await all(runGroup(['a', 'b', 'c'], bench.run, { limit }));
    const outcomes = Object.fromEntries(got.map(({ call, outcome }) => [call, outcome]));
    expect(outcomes).toEqual({
      a: { content: 'a', error: null },
      b: { content: null, error: 'The call failed: b broke' },
      c: { content: 'c', error: null },
    });
    expect(bench.peak).toBe(limit);
  });

  it('never has more calls in flight than the limit', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 0, max: 12 }), async (limit, count) => {
        const bench = new Bench();
        const calls = Array.from({ length: count }, (_, i) => `c${i}`);
        for (const call of calls) bench.end(call);
        const got = await all(runGroup(calls, bench.run, { limit }));
        expect(got.map(({ index }) => index).sort((a, b) => a - b)).toEqual(calls.map((_, i) => i));
        expect(bench.peak).toBe(Math.min(limit, count));
      }),
    );
  });

  it('after abort starts nothing more, reports what was running, then throws the reason', async () => {
    const bench = new Bench();
    const abort = new AbortController();
    const completions = runGroup(['a', 'b'], bench.run, { limit: 1, signal: abort.signal });
    const first = completions.next();
    abort.abort(new Error('cancelled'));
    bench.end('a');
    expect((await first).value).toMatchObject({ call: 'a' });
    await expect(completions.next()).rejects.toThrow('cancelled');
    expect(bench.started).toEqual(['a']);
  });
});
