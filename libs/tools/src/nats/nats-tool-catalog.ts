import type { NatsConnection } from '@nats-io/nats-core';
import { ToolRegistry, parseRegistration } from '../core/index.js';
import type { RegisteredTool, RejectedRegistration, ToolCatalog, ToolSet } from '../port/index.js';
import type { WatchOptions } from './registrations-round.js';
import { RegistrationsWatch } from './registrations-watch.js';

/** Settings of a catalog. */
export interface NatsToolCatalogOptions extends WatchOptions {
  /** Told once about every registration that is not in force, and about trouble that the catalog is repairing. */
  readonly report?: ((problem: { readonly key?: string; readonly reason: string }) => void) | undefined;
}

/**
 * The registrations in KV bucket `LONGREIN_TOOLS`, followed live. Makes the bucket when there is none. Keeps the last
 * list while the server is away. Works on servers from 2.9.10 on.
 */
export class NatsToolCatalog implements ToolCatalog {
  readonly #registry = new ToolRegistry();
  readonly #watch: RegistrationsWatch;
  readonly #report: NonNullable<NatsToolCatalogOptions['report']>;
  readonly #reported = new Map<string, string>();
  #running: Promise<void> = Promise.resolve();

  private constructor(nc: NatsConnection, options: NatsToolCatalogOptions) {
    this.#report = options.report ?? (() => undefined);
    this.#registry.onChange(() => this.#reportRejected());
    this.#watch = new RegistrationsWatch(
      nc,
      {
        load: (entries) =>
          this.#registry.replace([...entries].map(([key, body]) => [key, parseRegistration(key, body)] as const)),
        put: (key, body) => this.#registry.put(key, parseRegistration(key, body)),
        remove: (key) => this.#registry.remove(key),
        trouble: (reason) => this.#report({ reason }),
      },
      options,
    );
  }

  /**
   * A catalog that holds the complete list. Waits for the bucket as long as it takes, reporting why; rejects only
   * when the connection is closed.
   */
  static async start(nc: NatsConnection, options: NatsToolCatalogOptions = {}): Promise<NatsToolCatalog> {
    const catalog = new NatsToolCatalog(nc, options);
    catalog.#running = catalog.#watch.run();
    const ended = catalog.#running.then(() => {
      throw new Error('the NATS connection was closed before the tool registrations were read');
    });
    await Promise.race([catalog.#watch.loaded, ended]);
    ended.catch(() => undefined);
    return catalog;
  }

  /** Stops following. The last list stays readable. */
  async stop(): Promise<void> {
    this.#watch.stop();
    await this.#running;
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

  #reportRejected(): void {
    const rejected = new Map(this.#registry.rejected().map(({ key, reason }) => [key, reason]));
    for (const [key, reason] of rejected) {
      if (this.#reported.get(key) !== reason) this.#report({ key, reason: `the registration is ignored: ${reason}` });
    }
    this.#reported.clear();
    for (const [key, reason] of rejected) this.#reported.set(key, reason);
  }
}
