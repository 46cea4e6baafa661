import type { NatsConnection } from '@nats-io/nats-core';
import { CatalogExecutor, type ExecutorOptions } from '../core/index.js';
import type { ExecuteOptions, ToolCall, ToolCatalog, ToolExecutor, ToolOutcome } from '../port/index.js';
import { NatsTransport } from './nats-transport.js';

/** Settings of an executor over NATS. */
export interface NatsToolExecutorOptions extends ExecutorOptions {
  /** How long a call waits for a process to appear (a rolling restart) before it says that none answers. Default 1 s. */
  readonly absenceMs?: number | undefined;
}

/** Runs calls by request and reply, under each tool's own timeout. */
export class NatsToolExecutor implements ToolExecutor {
  readonly #executor: CatalogExecutor;

  constructor(nc: NatsConnection, catalog: Pick<ToolCatalog, 'resolve'>, options: NatsToolExecutorOptions = {}) {
    this.#executor = new CatalogExecutor(catalog, new NatsTransport(nc, options.absenceMs), options);
  }

  execute(call: ToolCall, options?: ExecuteOptions): Promise<ToolOutcome> {
    return this.#executor.execute(call, options);
  }
}
