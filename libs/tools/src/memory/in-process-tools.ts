import {
  CatalogExecutor,
  ToolFailure,
  ToolRegistry,
  checkDefinition,
  type ExecutorOptions,
  messageOf,
  untilAborted,
} from '../core/index.js';
import {
  DEFAULT_NAMESPACE,
  type ExecuteOptions,
  type RegisteredTool,
  type RejectedRegistration,
  type ToolCall,
  type ToolCatalog,
  type ToolDefinitionInput,
  type ToolExecutor,
  type ToolOutcome,
  type ToolSet,
} from '../port/index.js';

/** Runs a call. What it returns is the content; what it throws becomes the error text. */
export type InProcessHandler = (args: never, call: ToolCall, signal: AbortSignal | undefined) => unknown;

/** Catalog and executor in one process, for unit tests: every check of the real ones, no transport. */
export class InProcessTools implements ToolCatalog, ToolExecutor {
  /** Every execution that reached a handler, in start order. */
  readonly executed: ToolCall[] = [];
  readonly #registry = new ToolRegistry();
  readonly #handlers = new Map<string, InProcessHandler>();
  readonly #executor: CatalogExecutor;
  readonly #running = new Map<string, number>();
  #peak = 0;

  constructor(options: ExecutorOptions = {}) {
    this.#executor = new CatalogExecutor(
      this.#registry,
      { call: (tool, call, signal) => this.#run(tool, call, signal) },
      options,
    );
  }

  /** Registers a tool; returns the function that retires it. A definition nobody could register throws. */
  add(definition: ToolDefinitionInput & { readonly namespace?: string }, handler: InProcessHandler): () => void {
    const { namespace = DEFAULT_NAMESPACE, ...input } = definition;
    const entry = checkDefinition(namespace, input.name, input);
    if ('reason' in entry) throw new TypeError(`tool ${namespace}.${input.name}: ${entry.reason}`);
    const key = `${namespace}.${input.name}`;
    this.#handlers.set(key, handler);
    this.#registry.put(key, entry);
    return () => {
      this.#handlers.delete(key);
      this.#registry.remove(key);
    };
  }

  /** Calls in flight right now, of one tool or of all. */
  running(visibleName?: string): number {
    if (visibleName !== undefined) return this.#running.get(visibleName) ?? 0;
    return [...this.#running.values()].reduce((sum, count) => sum + count, 0);
  }

  /** The most calls that were ever in flight together. */
  get peak(): number {
    return this.#peak;
  }

  list(): readonly RegisteredTool[] {
    return this.#registry.list();
  }

  resolve(visibleName: string): RegisteredTool | undefined {
    return this.#registry.resolve(visibleName);
  }

  describe(select?: (visibleName: string) => boolean): ToolSet {
    return this.#registry.describe(select);
  }

  rejected(): readonly RejectedRegistration[] {
    return this.#registry.rejected();
  }

  onChange(listener: () => void): () => void {
    return this.#registry.onChange(listener);
  }

  execute(call: ToolCall, options?: ExecuteOptions): Promise<ToolOutcome> {
    return this.#executor.execute(call, options);
  }

  async #run(tool: RegisteredTool, call: ToolCall, signal: AbortSignal | undefined): Promise<unknown> {
    const handler = this.#handlers.get(`${tool.namespace}.${tool.name}`);
    if (!handler) throw new ToolFailure(`No process answers for ${tool.visible_name}.`);
    this.executed.push(call);
    this.#count(tool, 1);
    try {
      const result = Promise.resolve(handler(call.args as never, call, signal));
      return { content: (await untilAborted(result, signal)) ?? null };
    } catch (error) {
      signal?.throwIfAborted();
      throw new ToolFailure(messageOf(error));
    } finally {
      this.#count(tool, -1);
    }
  }

  #count(tool: RegisteredTool, by: number): void {
    this.#running.set(tool.visible_name, (this.#running.get(tool.visible_name) ?? 0) + by);
    this.#peak = Math.max(this.#peak, this.running());
  }
}
