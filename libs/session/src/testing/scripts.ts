import type { EventEnvelope } from '@longrein/events';
import fc from 'fast-check';
import type { Reply } from '../decisions/types.js';
import { pendingApprovals } from '../folds/selectors.js';
import { Journal } from './journal.js';
import { Runner } from './runner.js';

/** What happens beside the turn. */
type Aside = 'compact' | 'title' | 'model' | 'unknown' | 'chunk' | 'configure';

/** One thing that happens to a generated session. */
export type Happening =
  | { readonly do: 'work'; readonly ticks: number }
  | { readonly do: 'queue'; readonly text: string; readonly wake: boolean }
  | { readonly do: 'grant'; readonly text: string; readonly promote: boolean }
  | { readonly do: 'cancel'; readonly hard: boolean; readonly reason: string | null; readonly ahead: boolean }
  | { readonly do: 'verdict'; readonly pick: number; readonly approve: boolean }
  | { readonly do: 'policy'; readonly patterns: readonly string[] }
  | { readonly do: Aside | 'handover' | 'fail' }
  | { readonly do: 'die'; readonly torn: number };

/** A session's fate: what happens, and what model and tools answer in turn. */
export interface Script {
  readonly happenings: readonly Happening[];
  readonly replies: readonly (Reply | null)[];
  readonly errors: readonly boolean[];
  readonly costs: readonly (number | null)[];
  readonly joins: boolean;
}

const text = fc.string({ maxLength: 12 });
const reply: fc.Arbitrary<Reply> = fc.array(
  fc.oneof(
    fc.record({ type: fc.constant('text' as const), text }),
    fc.record({ type: fc.constant('reasoning' as const), text }),
    fc.record({
      type: fc.constant('tool_call' as const),
      // Few ids, so that providers' habit of repeating them shows.
      id: fc.constantFrom('c1', 'c2', 'c3'),
      name: fc.constantFrom('read', 'search', 'write', 'ask', 'pay', 'missing'),
      args: fc.record({ q: fc.oneof(text, fc.integer()) }),
    }),
  ),
  { minLength: 1, maxLength: 5 },
);
const just = <const Do extends string>(name: Do) => fc.constant({ do: name });
const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('work' as const), ticks: fc.integer({ min: 1, max: 24 }) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('queue' as const), text, wake: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('grant' as const), text, promote: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('cancel' as const),
      hard: fc.boolean(),
      reason: fc.option(text),
      ahead: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('verdict' as const), pick: fc.nat(3), approve: fc.boolean() }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('policy' as const),
      patterns: fc.array(fc.constantFrom('*', '*', 're*', 'a*k', 'none'), { maxLength: 4 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('die' as const), torn: fc.integer({ min: 0, max: 6 }) }) },
  just('compact'),
  just('title'),
  just('model'),
  just('unknown'),
  just('chunk'),
  just('handover'),
  just('fail'),
  just('configure'),
);

/** Scripts of sessions. */
export const sessionScript: fc.Arbitrary<Script> = fc.record({
  happenings: fc.array(happening, { minLength: 4, maxLength: 40, size: 'max' }),
  replies: fc.array(fc.option(reply, { freq: 20 }), { minLength: 1, maxLength: 8 }),
  errors: fc.array(fc.boolean(), { minLength: 1, maxLength: 4 }),
  costs: fc.array(fc.option(fc.double({ min: 0, max: 2, noNaN: true })), { minLength: 1, maxLength: 4 }),
  joins: fc.boolean(),
});

/** Logs that a loop, clients, approvers, compactions, deaths and torn appends can leave: legal at every event. */
export const legalLog: fc.Arbitrary<EventEnvelope[]> = sessionScript.map((script) => perform(script).journal.events);

/** Plays a script. */
export function perform(script: Script): Runner {
  let asked = 0;
  const cyclic = <T>(list: readonly T[]): T => list[asked++ % list.length] as T;
  const runner = new Runner(
    {
      reply: () => cyclic(script.replies) ?? new Error('provider down'),
      outcome: (name) => ({ content: { name }, error: cyclic(script.errors) ? 'tool failed' : null }),
      slow: () => cyclic(script.errors),
      joins: script.joins,
      usage: () => {
        const cost = cyclic(script.costs);
        return cost === null ? undefined : { prompt_tokens: asked, completion_tokens: 2, cost };
      },
    },
    new Journal(),
    { tools: [{ name: 'read', description: 'Reads', input_schema: { type: 'object' } }] },
  );
  script.happenings.forEach((happens, index) => happen(runner, happens, index));
  return runner;
}

function happen(runner: Runner, happens: Happening, index: number): void {
  const { journal } = runner;
  const { turn } = journal.state;
  switch (happens.do) {
    case 'work':
      runner.wake();
      for (let tick = 0; tick < happens.ticks; tick++) runner.tick();
      return;
    case 'queue':
      journal.put('input/queued', { input_id: `i${index}`, text: happens.text, wake: happens.wake });
      return;
    case 'grant':
      grant(runner, happens, index);
      return;
    case 'cancel':
      cancel(runner, happens);
      return;
    case 'verdict': {
      const pending = pendingApprovals(journal.state);
      const request = pending[happens.pick % Math.max(pending.length, 1)];
      if (request === undefined) return;
      const verdict = happens.approve ? 'approved' : 'denied';
      journal.put('approval/resolved', { call_id: request.call_id, request_seq: request.request_seq, verdict });
      return;
    }
    case 'policy':
      journal.put('policy/updated', { patterns: [...happens.patterns] });
      return;
    case 'die': {
      // It dies over its next append, of which the log keeps a prefix, perhaps nothing.
      runner.tick(happens.torn);
      runner.die();
      if (journal.state.turn !== null) runner.takeOver();
      return;
    }
    case 'handover':
      if (turn === null || turn.step !== null || turn.stalled !== null) return;
      runner.handOver();
      runner.takeOver();
      return;
    case 'fail':
      runner.fail('the host said no');
      return;
    default:
      aside(runner, happens.do, index);
  }
}

function grant(runner: Runner, { text: said, promote }: { text: string; promote: boolean }, index: number): void {
  const { journal } = runner;
  const { turn, configuration, inbox } = journal.state;
  // As the registry does: in sessions of its agent, one at a time, while no turn is open.
  if (turn !== null || configuration === null || inbox.some((input) => input.grant !== undefined)) return;
  const steer = promote ? inbox.find((input) => input.wake) : undefined;
  journal.put('input/queued', {
    input_id: `i${index}`,
    text: steer?.text ?? said,
    wake: true,
    grant: { agent_turn_id: `g${index}`, generation: 1, ...(steer === undefined ? {} : { promotes: steer.input_id }) },
  });
}

function cancel(runner: Runner, happens: Extract<Happening, { do: 'cancel' }>): void {
  const { journal } = runner;
  const granted = journal.state.inbox.find((input) => input.grant !== undefined)?.grant?.agent_turn_id;
  const turn_id = (happens.ahead ? granted : undefined) ?? journal.state.turn?.turn_id ?? 'long-gone';
  const { hard, reason } = happens;
  journal.put('turn/cancel_requested', { turn_id, ...(reason === null ? {} : { reason }), hard });
  if (hard && turn_id === journal.state.turn?.turn_id) runner.running.clear();
}

function aside(runner: Runner, what: Aside, index: number): void {
  const { journal } = runner;
  const usage = { prompt_tokens: 3, completion_tokens: 1, cost: 0.25 };
  switch (what) {
    case 'compact':
      // As the log has it: only while no turn is open, up to the event before.
      if (journal.state.turn !== null) return;
      journal.put('utility/usage', { purpose: 'compaction', model: 'test/small', usage });
      journal.put('session/compacted', { upto_seq: journal.events.length - 1, summary: `summary ${index}` });
      return;
    case 'title':
      journal.put('utility/usage', { purpose: 'title', model: 'test/small', usage });
      journal.put('session/titled', { title: `title ${index}` });
      return;
    case 'model':
      journal.put('session/model_selected', { role: 'main', model: `test/model-${index}` });
      return;
    case 'configure':
      journal.put('session/configured', { agent_id: 'a1', generation: 1, spec: { policy: ['*'] } });
      return;
    case 'unknown':
      journal.putUnknown('future/thing', { index });
      return;
    case 'chunk':
      if (journal.state.turn?.step?.replied === false) journal.put('assistant/chunk', { text: 'tok' });
      return;
    default:
  }
}
