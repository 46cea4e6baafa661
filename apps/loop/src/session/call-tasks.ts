import {
  type HookContext,
  type ToolCatalog,
  type ToolExecutor,
  type ToolHooks,
  type ToolOutcome,
  callKey,
  executeWithHooks,
  failure,
  findVeto,
} from '@longrein/tools';
import type { OwedCall } from '@longrein/session';

/** What running calls needs. */
export interface CallDeps {
  readonly executor: ToolExecutor;
  readonly catalog: ToolCatalog;
  readonly hooks: ToolHooks;
}

/** Whose call it is and under which right it runs. */
export interface CallScope {
  readonly session_id: string;
  readonly turn_id: string;
  readonly agent_id: string;
  readonly epoch: number;
}

/** A call as the model wrote it, where that is still known; the log may hold it scrubbed. */
export type WrittenCall = Pick<OwedCall, 'name' | 'args'>;

interface Running {
  readonly controller: AbortController;
  outcome?: ToolOutcome;
}

/** The calls that this process is executing for one session. */
export class CallTasks {
  readonly #running = new Map<number, Running>();

  constructor(
    private readonly deps: CallDeps,
    private readonly changed: () => void,
  ) {}

  /** Executing, or back and not yet delivered. */
  get running(): ReadonlySet<number> {
    return new Set(this.#running.keys());
  }

  get size(): number {
    return this.#running.size;
  }

  /** What a hook has against the call, before anything about it is logged. */
  async veto(scope: CallScope, call: OwedCall, written: WrittenCall | undefined): Promise<string | undefined> {
    if ((this.deps.hooks.pre ?? []).length === 0) return undefined;
    return findVeto(this.deps.hooks, this.#context(scope, call, 1, written));
  }

  /** Executes a call whose `tool/started` is stored. */
  start(scope: CallScope, call: OwedCall, attempt: number, written: WrittenCall | undefined): void {
    const task: Running = { controller: new AbortController() };
    this.#running.set(call.call_seq, task);
    const context = this.#context(scope, call, attempt, written);
    // The hooks before the call were asked already.
    const hooks = { ...this.deps.hooks, pre: [] };
    void executeWithHooks(hooks, this.deps.executor, context, { signal: task.controller.signal })
      .catch((error: unknown) => failure(`The call did not come back: ${messageOf(error)}`))
      .then((outcome) => {
        task.outcome = outcome;
        this.changed();
      });
  }

  /** The first call, by number, that is back. It stays until `drop`. */
  delivered(): { readonly call_seq: number; readonly outcome: ToolOutcome } | undefined {
    for (const call_seq of [...this.#running.keys()].sort((a, b) => a - b)) {
      const { outcome } = this.#running.get(call_seq)!;
      if (outcome) return { call_seq, outcome };
    }
    return undefined;
  }

  /** Replaces an outcome that the log would not take. */
  replace(call_seq: number, outcome: ToolOutcome): void {
    const task = this.#running.get(call_seq);
    if (task) task.outcome = outcome;
  }

  /** Forgets a call: its outcome is in the log, or nobody wants it any more. */
  drop(call_seq: number): void {
    this.#running.get(call_seq)?.controller.abort(new Error('no longer wanted'));
    this.#running.delete(call_seq);
  }

  /** Stops waiting for all of them. What their tools do is unknown from here on. */
  abort(): void {
    for (const call_seq of [...this.#running.keys()]) this.drop(call_seq);
  }

  #context(scope: CallScope, call: OwedCall, attempt: number, written: WrittenCall | undefined): HookContext {
    const { session_id, turn_id, agent_id, epoch } = scope;
    const { name, args } = written ?? call;
    const { id: call_id, call_seq } = call;
    return {
      agent_id,
      tool: this.deps.catalog.resolve(name),
      call: { session_id, turn_id, call_id, call_seq, name, args, key: callKey(session_id, call_seq), attempt, epoch },
    };
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
