import { describe, expect, it } from '@jest/globals';
import type { EventEnvelope } from '@longrein/events';
import { isLogError } from '@longrein/log';
import { startableInput } from '@longrein/session';
import { VirtualClock } from '@longrein/testing';
import type { ToolCall } from '@longrein/tools';
import fc from 'fast-check';
import type { LoopEngine } from './partition/loop-engine.js';
import { violations } from './testing/invariants.js';
import { memoryFixture } from './testing/memory-deployment.js';
import { ScriptedModel, type ScriptedAnswer } from './testing/scripted-model.js';
import type { SessionProbe } from './testing/session-probe.js';
import { scriptedTools } from './testing/tool-script.js';

type Op =
  | { readonly kind: 'inject'; readonly wake: boolean }
  | { readonly kind: 'cancel'; readonly hard: boolean }
  | { readonly kind: 'verdict'; readonly approved: boolean }
  | { readonly kind: 'restart'; readonly crash: boolean }
  /** Another replica takes the partition from one that runs on and does not know. */
  | { readonly kind: 'takeover' }
  | { readonly kind: 'fault'; readonly at: 'before' | 'after' | 1 | 2 | 3 }
  | { readonly kind: 'run'; readonly hops: number }
  | { readonly kind: 'time' };

const op: fc.Arbitrary<Op> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('inject' as const), wake: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const), hard: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('verdict' as const), approved: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const), crash: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'takeover' as const }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('fault' as const),
      at: fc.constantFrom('before' as const, 'after' as const, 1 as const, 2 as const, 3 as const),
    }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('run' as const), hops: fc.integer({ min: 1, max: 12 }) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'time' as const }) },
);

/** Which tools the model calls in its answers, over and over; an empty list is a final answer. */
const answers = fc.array(fc.array(fc.constantFrom('p', 'q', 's', 'pay', 'ask', 'gone'), { maxLength: 4 }), {
  minLength: 1,
  maxLength: 6,
});

const latencies = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 7 });
const ops = fc.array(op, { minLength: 3, maxLength: 30 });

const hop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function hops(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await hop();
}

/** `PROPERTY_SEED` and `PROPERTY_RUNS` replay or widen a run. */
const replay = process.env['PROPERTY_SEED'] === undefined ? {} : { seed: Number(process.env['PROPERTY_SEED']) };

class Run {
  readonly clock = new VirtualClock();
  readonly model = new ScriptedModel();
  readonly loop;
  session!: SessionProbe;
  /** Replicas that lost the partition and were not told. */
  readonly #zombies: LoopEngine[] = [];
  #asked = 0;

  constructor(
    private readonly script: readonly (readonly string[])[],
    latencies: readonly number[],
  ) {
    const work = (args: Record<string, unknown>) => hops(Number(args['n'])).then(() => args);
    const parallel = { concurrency: 'parallel' as const };
    const tools = scriptedTools(
      { p: work, q: work, s: work, pay: work, ask: work },
      { p: parallel, q: parallel, pay: { repeatable: false }, ask: { approval: 'always' } },
    );
    this.model.then(...Array.from({ length: 2_000 }, () => () => this.#answer()));
    // Appends take time, before they are decided and before they are answered: others get in between.
    let appends = 0;
    const schedule = () => hops(latencies[appends++ % latencies.length] ?? 0);
    this.loop = memoryFixture({ model: this.model, tools, clock: this.clock, log: { schedule } });
  }

  async do(op: Op): Promise<void> {
    const { session, loop } = this;
    if (op.kind === 'inject') await session.inject('text', { wake: op.wake });
    if (op.kind === 'run') await hops(op.hops);
    if (op.kind === 'time') await this.clock.next();
    if (op.kind === 'fault') {
      loop.deployment.memory.faults.failNextAppend({ at: op.at, match: ({ service }) => service === 'loop' });
    }
    if (op.kind === 'restart') {
      if (op.crash) loop.crash();
      else await this.#whileTimePasses(loop.stop());
      await loop.start();
    }
    if (op.kind === 'takeover') {
      this.#zombies.push(loop.engine);
      await loop.start();
    }
    if (op.kind === 'cancel' || op.kind === 'verdict') {
      const { turn, last_seq } = await session.state();
      if (op.kind === 'cancel' && turn) await session.cancel({ hard: op.hard });
      const request = turn?.approvals.find(({ verdict }) => verdict === null);
      if (op.kind === 'verdict' && request) await this.resolve(request, op.approved, last_seq);
    }
  }

  /** As the approvals service does: under the condition that the request still stands. */
  async resolve(request: { call_id: string; request_seq: number }, approved: boolean, seq: number): Promise<void> {
    const { call_id, request_seq } = request;
    const payload = { call_id, request_seq, verdict: approved ? 'approved' : 'denied' };
    const expect = { seq, none_of: ['approval/resolved', 'turn/end'] };
    const append = { events: [{ type: 'approval/resolved', payload }], expect, since: seq };
    await this.loop.deployment
      .as('approvals')
      .append(this.session.id, append)
      .catch((error: unknown) => {
        if (!isLogError(error, 'conflict')) throw error;
      });
  }

  /** Lets everything come to rest: verdicts are given, stalled turns are woken, time passes. */
  async settle(): Promise<void> {
    for (let round = 0; round < 400; round++) {
      await hops(20);
      if (!(await this.clock.next())) await hops(20);
      const state = await this.session.state();
      if (state.turn === null && startableInput(state) === undefined && this.loop.engine.load.active === 0) return;
      const request = state.turn?.approvals.find(({ verdict }) => verdict === null);
      if (request) await this.resolve(request, true, state.last_seq);
      else if (state.turn?.stalled) await this.session.inject('go on');
    }
    throw new Error(`does not come to rest: ${JSON.stringify((await this.session.state()).turn)}`);
  }

  /** Nothing runs on behind a test that is over. */
  end(): void {
    this.loop.crash();
    for (const zombie of this.#zombies) zombie.kill();
  }

  async #whileTimePasses<T>(work: Promise<T>): Promise<T> {
    let over = false;
    void work.finally(() => (over = true));
    while (!over) {
      await hops(5);
      await this.clock.next();
    }
    return work;
  }

  #answer(): ScriptedAnswer {
    const tools = this.script[this.#asked++ % this.script.length]!;
    const calls = tools.map((name, index) => ({ id: `c${index}`, name, args: { n: (this.#asked + index) % 5 } }));
    return { text: ['some ', 'text'], calls, before: () => hops(this.#asked % 4) };
  }
}

/** Events of a term that come after those of a later one. */
function termsOutOfOrder(events: readonly EventEnvelope[]): string[] {
  let highest = 0;
  return events.flatMap(({ type, payload, seq }) => {
    const { epoch = highest } = payload as { epoch?: number };
    if (epoch < highest) return [`${type} at ${seq} under ${epoch} after ${highest}`];
    highest = epoch;
    return [];
  });
}

/**
 * Executions that should not have been: an attempt twice, a higher attempt under a lower epoch, more than one of a call
 * that may not be repeated. An owner that lost the partition may be late with what it had started, so their order is free.
 */
function repetitions(executed: readonly ToolCall[]): string[] {
  const byKey = new Map<string, ToolCall[]>();
  for (const call of executed) byKey.set(call.key, [...(byKey.get(call.key) ?? []), call]);
  return [...byKey].flatMap(([key, calls]) => {
    const inOrder = [...calls].sort((a, b) => a.attempt - b.attempt);
    const wrong = inOrder.some((call, index) => {
      const before = inOrder[index - 1];
      return before !== undefined && (before.attempt === call.attempt || before.epoch > call.epoch);
    });
    const twice = calls.length > 1 && calls[0]!.name === 'pay';
    return wrong || twice ? [`${key}: ${calls.map(({ attempt, epoch }) => `${attempt}@${epoch}`).join(' ')}`] : [];
  });
}

describe('complaint 21: any interleaving of inputs, cancels, verdicts, restarts, crashes, takeovers and lost appends', () => {
  it('keeps the log sound: gapless, one open turn, one result a call, each input consumed once', async () => {
    await fc.assert(
      fc.asyncProperty(answers, latencies, ops, async (script, delays, program) => {
        // Some answer ends the turn, or every turn would run to the step limit.
        const run = new Run([...script, []], delays);
        run.session = await run.loop.session('s');
        await run.loop.start();
        try {
          for (const next of program) await run.do(next);
          expect(violations(await run.session.events(), { settled: false })).toEqual([]);
          await run.settle();
        } finally {
          run.end();
        }
        expect(violations(await run.session.events(), { settled: true })).toEqual([]);
        const reasons = (await run.session.payloads('turn/end')).map(({ reason }) => reason ?? '');
        expect(reasons.filter((reason) => /no result|answers no call|differs/.test(String(reason)))).toEqual([]);
        expect(termsOutOfOrder(await run.session.events())).toEqual([]);
        expect(repetitions(run.loop.tools.executed)).toEqual([]);
      }),
      { ...replay, numRuns: Number(process.env['PROPERTY_RUNS'] ?? 60) },
    );
  }, 120_000);
});
