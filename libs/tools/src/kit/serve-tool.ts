import { systemClock, type Clock } from '@longrein/clock';
import type { NatsConnection, Subscription } from '@nats-io/nats-core';
import { connect, type NodeConnectionOptions } from '@nats-io/transport-node';
import type { z } from 'zod';
import { HIGHEST_MAX_RESULT_BYTES, checkDefinition } from '../core/index.js';
import { TOOL_QUEUE, callSubject, registrationKey } from '../nats/subjects.js';
import { DEFAULT_NAMESPACE, toolDefinition, type RegisteredTool, type ToolDefinitionInput } from '../port/index.js';
import { argumentReader, type ArgumentsOf, type JsonSchema } from './argument-reader.js';
import { MemoryDedupeStore, type DedupeStore } from './dedupe.js';
import { EpochFence } from './epoch-fence.js';
import { Registrar } from './registrar.js';
import { ToolRunner, type ToolContext } from './tool-runner.js';

/** A tool to serve: its definition, its handler, and where. */
export interface ServeToolOptions<Schema extends z.ZodType | JsonSchema> extends Omit<
  ToolDefinitionInput,
  'input_schema'
> {
  /** A server's URL, options to connect with, or a connection of yours, which then stays open after `stop`. */
  readonly nats: string | NodeConnectionOptions | NatsConnection;
  /** Default `default`, whose tools models see under their bare name. */
  readonly namespace?: string;
  /** A zod object schema, or JSON Schema as plain data. */
  readonly input_schema: Schema;
  /** Does the work. What it returns is the result (JSON), what it throws becomes the error text the model reads. */
  readonly handler: (args: ArgumentsOf<Schema>, context: ToolContext) => unknown;
  /**
   * Answers a repeated call from the first execution's result, and joins a call whose key is still running. `true`
   * keeps results in this process's memory.
   */
  readonly dedupe?: boolean | DedupeStore;
  /** The deployment's partition count, when known: stale epochs are then recognised across a partition's sessions. */
  readonly partitions?: number;
  /** How often, in milliseconds, to check that the server still has the registration. Default 15 s. */
  readonly checkMs?: number;
  /** Told about trouble that the kit goes on to repair. Default: standard error. */
  readonly report?: (reason: string) => void;
  /** Time for `not_after`. Default: the machine's. */
  readonly clock?: Clock;
}

/** How to stop serving. */
export interface StopOptions {
  /** Takes the registration out: models are no longer shown the tool. For good-bye, not for a restart. */
  readonly retire?: boolean;
}

/** A tool that is registered and answers. */
export interface ServedTool {
  readonly tool: RegisteredTool;
  /** Calls being worked on. */
  readonly inFlight: number;
  /** Takes no new calls, waits for the running ones (each ends at its `not_after`), answers them, lets go. */
  stop(options?: StopOptions): Promise<void>;
}

/**
 * Registers a tool and answers its calls until stopped. Resolves once both are in place. Throws `TypeError` for a
 * definition that no catalog would accept. Several processes may serve the same tool; each call reaches one of them.
 */
export async function serveTool<const Schema extends z.ZodType | JsonSchema>(
  options: ServeToolOptions<Schema>,
): Promise<ServedTool> {
  const { namespace = DEFAULT_NAMESPACE, name } = options;
  const { json, read } = argumentReader(options.input_schema);
  const entry = checkDefinition(namespace, name, { ...options, input_schema: json });
  if ('reason' in entry) throw new TypeError(`tool ${namespace}.${name}: ${entry.reason}`);
  const { nc, owned } = await connection(options.nats);
  const runner = new ToolRunner({
    readArguments: read,
    handler: options.handler,
    fence: new EpochFence(options.partitions),
    clock: options.clock ?? systemClock,
    dedupe: options.dedupe === true ? new MemoryDedupeStore() : options.dedupe || undefined,
    maxBytes: Math.min(HIGHEST_MAX_RESULT_BYTES, (nc.info?.max_payload ?? Infinity) - 1024),
  });
  const server = new ToolServer(nc, owned, entry.tool, runner, options.report ?? complain, options.checkMs ?? 15_000);
  try {
    await server.registered;
  } catch (error) {
    await server.stop();
    throw error;
  }
  return server;
}

class ToolServer implements ServedTool {
  readonly tool: RegisteredTool;
  readonly #nc: NatsConnection;
  readonly #owned: boolean;
  readonly #subscription: Subscription;
  readonly #registrar: Registrar;
  readonly #running = new Set<Promise<void>>();
  #stopping: Promise<void> | undefined;

  constructor(
    nc: NatsConnection,
    owned: boolean,
    tool: RegisteredTool,
    runner: ToolRunner,
    report: (reason: string) => void,
    checkMs: number,
  ) {
    this.tool = tool;
    this.#nc = nc;
    this.#owned = owned;
    const { namespace, visible_name: _visible, ...definition } = tool;
    // Answering comes first: a model may call as soon as it is shown the tool.
    this.#subscription = nc.subscribe(callSubject(namespace, tool.name), {
      queue: TOOL_QUEUE,
      callback: (error, message) => {
        if (error) return report(`cannot take calls of ${tool.name}: ${error.message}`);
        const work = runner.handle(message.data).then((reply) => void message.respond(JSON.stringify(reply)));
        const settled: Promise<void> = work
          .catch((failed: unknown) => report(`cannot answer a call of ${tool.name}: ${String(failed)}`))
          .finally(() => this.#running.delete(settled));
        this.#running.add(settled);
      },
    });
    const body = JSON.stringify(toolDefinition.parse(definition));
    this.#registrar = new Registrar(nc, { key: registrationKey(namespace, tool.name), body, checkMs }, report);
  }

  get registered(): Promise<void> {
    return this.#registrar.registered;
  }

  get inFlight(): number {
    return this.#running.size;
  }

  stop(options: StopOptions = {}): Promise<void> {
    this.#stopping ??= this.#stop(options.retire ?? false);
    return this.#stopping;
  }

  async #stop(retire: boolean): Promise<void> {
    try {
      await this.#registrar.stop(retire);
      if (!this.#nc.isClosed()) await this.#subscription.drain();
      while (this.#running.size > 0) await Promise.all(this.#running);
    } finally {
      if (this.#owned && !this.#nc.isClosed()) await this.#nc.drain();
    }
  }
}

async function connection(
  nats: string | NodeConnectionOptions | NatsConnection,
): Promise<{ nc: NatsConnection; owned: boolean }> {
  if (typeof nats === 'object' && 'subscribe' in nats) return { nc: nats, owned: false };
  const forEver: NodeConnectionOptions = { maxReconnectAttempts: -1, waitOnFirstConnect: true };
  const nc = await connect(typeof nats === 'string' ? { ...forEver, servers: nats } : { ...forEver, ...nats });
  return { nc, owned: true };
}

function complain(reason: string): void {
  process.stderr.write(`${reason}\n`);
}
