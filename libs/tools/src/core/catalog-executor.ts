import type {
  ExecuteOptions,
  RegisteredTool,
  ToolCall,
  ToolCatalog,
  ToolExecutor,
  ToolOutcome,
} from '../port/index.js';
import { compileSchema, malformedArguments, type CompiledSchema } from './arguments.js';
import { DEFAULT_MAX_RESULT_BYTES, HIGHEST_MAX_RESULT_BYTES, failure, outcomeOf } from './outcome.js';
import { messageOf } from './message-of.js';

/** Something the model should be told in these words: the message is the error text of the outcome. */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure';
}

/** Takes a call to the tool's process and brings its answer, parsed but unchecked. Throws `ToolFailure`. */
export interface ToolTransport {
  call(tool: RegisteredTool, call: ToolCall, signal: AbortSignal | undefined): Promise<unknown>;
}

/** What an executor reports to its operator; the model gets its own text. */
export type ToolReport = (problem: { readonly tool: string; readonly reason: string }) => void;

/** Limits and seams of an executor. */
export interface ExecutorOptions {
  /** Largest content of a result, in bytes of JSON. Default 256 KiB, at most 400 KiB. */
  readonly maxResultBytes?: number | undefined;
  /** Told about schemas that cannot be used and about transports that throw what they should not. */
  readonly report?: ToolReport | undefined;
}

/** The executor without its transport: looks the tool up, checks arguments, checks that the result can be stored. */
export class CatalogExecutor implements ToolExecutor {
  readonly #catalog: Pick<ToolCatalog, 'resolve'>;
  readonly #transport: ToolTransport;
  readonly #maxBytes: number;
  readonly #report: ToolReport;
  // By definition object: a new registration is a new object, and compiles anew.
  readonly #schemas = new WeakMap<RegisteredTool, CompiledSchema>();

  constructor(catalog: Pick<ToolCatalog, 'resolve'>, transport: ToolTransport, options: ExecutorOptions = {}) {
    this.#catalog = catalog;
    this.#transport = transport;
    this.#maxBytes = Math.min(options.maxResultBytes ?? DEFAULT_MAX_RESULT_BYTES, HIGHEST_MAX_RESULT_BYTES);
    this.#report = options.report ?? (() => undefined);
  }

  async execute(call: ToolCall, options: ExecuteOptions = {}): Promise<ToolOutcome> {
    const { signal } = options;
    signal?.throwIfAborted();
    const tool = this.#catalog.resolve(call.name);
    if (!tool) return failure(`No tool named ${JSON.stringify(call.name)} is registered.`);
    const problem = malformedArguments(call.args) ?? this.#checkArguments(tool, call.args);
    if (problem !== undefined) return failure(problem);
    try {
      return outcomeOf(await this.#transport.call(tool, call, signal), this.#maxBytes);
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof ToolFailure) return failure(error.message);
      const reason = messageOf(error);
      this.#report({ tool: tool.visible_name, reason: `the call failed: ${reason}` });
      return failure(`The call to ${tool.visible_name} failed: ${reason}`);
    }
  }

  #checkArguments(tool: RegisteredTool, args: unknown): string | undefined {
    let compiled = this.#schemas.get(tool);
    if (!compiled) {
      compiled = compileSchema(tool.input_schema);
      this.#schemas.set(tool, compiled);
      if ('unusable' in compiled) {
        this.#report({
          tool: tool.visible_name,
          reason: `arguments go unchecked, the input schema is unusable: ${compiled.unusable}`,
        });
      }
    }
    return 'check' in compiled ? compiled.check(args) : undefined;
  }
}
