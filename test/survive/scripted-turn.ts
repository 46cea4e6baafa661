import type { EventEnvelope } from '@longrein/events';
import { type SessionState, fold, history } from '@longrein/session';
import type { RequestView, Scripted } from '@longrein/testing';
import { type ServedTool, serveTool } from '@longrein/tools/kit';
import { z } from 'zod';
import type { SurvivalRig } from './survival-rig.js';

/** One execution of a tool, as its process saw it. */
export interface Run {
  readonly session: string;
  readonly name: string;
  readonly key: string;
  readonly attempt: number;
  readonly epoch: number;
}

/** Calls of the turn's first step, by id and tool: two that run together, one that may not be repeated, one that is asked about. */
export const CALLS = ['look', 'find', 'pay', 'risk'] as const;

/** First `Let me see.` and the calls; when their results are there, `All done.`; whatever is asked then, `Nothing to add.` */
export class TurnScript {
  /** Texts of users whose first answer stops in its middle, once each, at the gate of that name. */
  readonly held = new Set<string>();

  readonly reply = ({ messages }: RequestView): Scripted => {
    if (messages.at(-1)?.role === 'tool') return { steps: [{ text: 'All ' }, { text: 'done.' }] };
    if (messages.some(({ role }) => role === 'assistant')) return { steps: [{ text: 'Nothing to add.' }] };
    const [first] = messages;
    const text = first?.role === 'user' ? first.text : '';
    const calls = CALLS.map((name) => ({ tool_call: { name, id: name, args: { of: name } } }));
    const wait = this.held.delete(text) ? [{ wait: text }] : [];
    return { steps: [{ text: 'Let me ' }, ...wait, { text: 'see.' }, ...calls] };
  };
}

/** The tools of the scripted turn, each a counter of its executions. */
export class ScriptedTools {
  readonly runs: Run[] = [];
  /** Called when a tool begins to run, by session. */
  readonly began = new Map<string, (run: Run) => Promise<void> | void>();
  readonly #served: ServedTool[] = [];
  readonly #closing: Promise<void>;
  #close: () => void = () => undefined;

  private constructor() {
    this.#closing = new Promise((resolve) => (this.#close = resolve));
  }

  static async start(rig: SurvivalRig): Promise<ScriptedTools> {
    const tools = new ScriptedTools();
    const input_schema = z.object({ of: z.string() });
    const traits = {
      look: { concurrency: 'parallel' },
      find: { concurrency: 'parallel' },
      pay: { repeatable: false },
      risk: { approval: 'always' },
    } as const;
    for (const name of CALLS) {
      const served = await serveTool({
        nats: rig.connection,
        name,
        description: `Does ${name}.`,
        input_schema,
        partitions: rig.partitions,
        timeout_ms: 60_000,
        ...traits[name],
        handler: async ({ of }, { session_id: session, key, attempt, epoch }) => {
          const run = { session, name, key, attempt, epoch };
          tools.runs.push(run);
          await Promise.race([tools.began.get(session)?.(run), tools.#closing]);
          return `${of} is done`;
        },
      });
      tools.#served.push(served);
    }
    return tools;
  }

  of(session: string): Run[] {
    return this.runs.filter((run) => run.session === session);
  }

  async stop(): Promise<void> {
    // What a failed test left waiting must not keep the others from ending.
    this.#close();
    await Promise.all(this.#served.map((tool) => tool.stop()));
  }
}

/** The message history that a model would be sent next. */
export function historyOf(events: readonly EventEnvelope[]): unknown[] {
  const state: SessionState = fold(events);
  return [...history(state)];
}

/** What is wrong with the executions of a session's calls, in words, next to what its log says about them. */
export function wrongRuns(events: readonly EventEnvelope[], runs: readonly Run[]): string[] {
  const wrong: string[] = [];
  const over = new Map<number, number>();
  const started = new Map<number, number[]>();
  for (const { type, payload, seq } of events) {
    const call = (payload as { call_seq?: number }).call_seq;
    if (call === undefined) continue;
    if (type === 'tool/finished' || type === 'tool/result') over.set(call, over.get(call) ?? seq);
    if (type !== 'tool/started') continue;
    if (over.has(call)) wrong.push(`call ${call} was started at ${seq}, after it was over at ${over.get(call)}`);
    started.set(call, [...(started.get(call) ?? []), (payload as { attempt: number }).attempt]);
  }
  for (const [call, attempts] of started) {
    const expected = attempts.map((_, index) => index + 1);
    if (attempts.join() !== expected.join()) wrong.push(`call ${call} has the attempts ${attempts.join()}`);
  }
  const keys = new Map<string, number[]>();
  for (const { key, attempt } of runs) keys.set(key, [...(keys.get(key) ?? []), attempt]);
  for (const [key, attempts] of keys) {
    const call = Number(key.split('/').at(-1));
    if (new Set(attempts).size !== attempts.length) wrong.push(`${key} ran the attempts ${attempts.join()}`);
    const unknown = attempts.filter((attempt) => !started.get(call)?.includes(attempt));
    if (unknown.length > 0) wrong.push(`${key} ran the attempts ${unknown.join()}, which the log does not know`);
  }
  return wrong;
}
