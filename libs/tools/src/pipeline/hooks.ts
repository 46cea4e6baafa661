import { failure, messageOf } from '../core/index.js';
import type { ExecuteOptions, RegisteredTool, ToolCall, ToolExecutor, ToolOutcome } from '../port/index.js';

/** On whose behalf a call runs. Hooks may differ by agent, so nothing runs without one. */
export interface ToolScope {
  readonly agent_id: string;
}

/** What a hook is told. `tool` is missing when no such tool is registered. */
export interface HookContext extends ToolScope {
  readonly call: ToolCall;
  readonly tool: RegisteredTool | undefined;
}

type Awaitable<T> = T | Promise<T>;

/** Refuses a call before anyone is asked and before it runs, or lets it pass by answering nothing. */
export type PreExecuteHook = (context: HookContext) => Awaitable<{ readonly veto: string } | undefined>;

/** Stands around the execution: calls `next` for the inner result, or answers with a substitute of its own. */
export type ExecuteHook = (context: HookContext, next: () => Promise<ToolOutcome>) => Awaitable<ToolOutcome>;

/** Rewrites a result before anyone sees it, logged or not. */
export type PostExecuteHook = (context: HookContext, outcome: ToolOutcome) => Awaitable<ToolOutcome>;

/** Hooks in the order they run; for `execute`, the first is the outermost. */
export interface ToolHooks {
  readonly pre?: readonly PreExecuteHook[];
  readonly execute?: readonly ExecuteHook[];
  readonly post?: readonly PostExecuteHook[];
}

/** The first veto's reason, or nothing when every hook lets the call pass. A hook that throws vetoes: it fails closed. */
export async function findVeto(hooks: ToolHooks, context: HookContext): Promise<string | undefined> {
  requireScope(context);
  for (const hook of hooks.pre ?? []) {
    try {
      const answer = await hook(context);
      if (answer) return answer.veto;
    } catch (error) {
      return `A check before the call failed: ${messageOf(error)}`;
    }
  }
  return undefined;
}

/** Executes a call inside its hooks, vetoes included. Rejects like the executor: only after abort. */
export async function executeWithHooks(
  hooks: ToolHooks,
  executor: ToolExecutor,
  context: HookContext,
  options: ExecuteOptions = {},
): Promise<ToolOutcome> {
  requireScope(context);
  const veto = await findVeto(hooks, context);
  if (veto !== undefined) return failure(veto);
  try {
    let outcome = await around(hooks.execute ?? [], context, () => executor.execute(context.call, options));
    for (const hook of hooks.post ?? []) outcome = await hook(context, outcome);
    return outcome;
  } catch (error) {
    options.signal?.throwIfAborted();
    return failure(`A hook around the call failed: ${messageOf(error)}`);
  }
}

async function around(
  hooks: readonly ExecuteHook[],
  context: HookContext,
  run: () => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  const [hook, ...inner] = hooks;
  return hook ? hook(context, () => around(inner, context, run)) : run();
}

function requireScope(context: HookContext): void {
  if (typeof context.agent_id !== 'string' || context.agent_id === '') {
    throw new TypeError('agent_id is missing: a call runs on behalf of an agent, whose hooks must not be skipped');
  }
}
