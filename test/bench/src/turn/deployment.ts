import { partitionOf } from '@longrein/events';
import { LogClient } from '@longrein/log/client';
import { ChildProcess, type TestNats, startTestNats } from '@longrein/testing';
import { type ServedTool, serveTool } from '@longrein/tools/kit';
import type { NatsConnection } from '@nats-io/nats-core';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { TOOL } from './script.js';

export const PARTITIONS = 2;

/** How long a partition's lease outlives its owner, in milliseconds. */
export const LEASE_MS = 3_000;

/** NATS, log, loop and model, each a process of its own; the tool and the client are in this one. */
export class TurnDeployment {
  readonly client: LogClient;
  readonly #children: ChildProcess[] = [];
  #model: { openai_url: string } = { openai_url: '' };
  #tool: ServedTool | undefined;
  #loops = 0;

  private constructor(
    readonly nats: TestNats,
    readonly nc: NatsConnection,
  ) {
    this.client = new LogClient(nc, { service: 'gateway', partitions: PARTITIONS });
  }

  /** Starts everything but the loop. */
  static async start(): Promise<TurnDeployment> {
    const nats = await startTestNats();
    try {
      const deployment = new TurnDeployment(nats, await nats.connect());
      await deployment.#start();
      return deployment;
    } catch (error) {
      await nats.stop();
      throw error;
    }
  }

  /** Starts a replica of the loop; resolves when it is ready. */
  async loop(): Promise<ChildProcess> {
    return this.#service('loop', {
      LONGREIN_INSTANCE: `loop-${++this.#loops}`,
      LONGREIN_LEASE_TTL_MS: String(LEASE_MS),
      LONGREIN_MODEL: 'openai/scripted',
      OPENAI_BASE_URL: this.#model.openai_url,
      OPENAI_API_KEY: 'none',
    });
  }

  async stop(): Promise<void> {
    await this.#tool?.stop().catch(() => undefined);
    this.client.close();
    await Promise.all(this.#children.map((child) => child.kill()));
    await this.nats.stop();
  }

  async #start(): Promise<void> {
    await this.#service('log', {});
    const model = ChildProcess.start({ entry: fileURLToPath(new URL('./model-process.js', import.meta.url)) });
    this.#children.push(model);
    this.#model = await model.json<{ openai_url: string }>(({ openai_url }) => openai_url !== undefined);
    this.#tool = await serveTool({
      nats: this.nc,
      name: TOOL,
      description: 'Works on something.',
      input_schema: z.object({ on: z.string() }),
      concurrency: 'parallel',
      timeout_ms: 10_000,
      partitions: PARTITIONS,
      handler: ({ on }) => `${on} is done`,
    });
  }

  async #service(app: 'log' | 'loop', env: Record<string, string>): Promise<ChildProcess> {
    const child = ChildProcess.start({
      entry: `apps/${app}/dist/main.js`,
      nodeArgs: (process.env[`BENCH_${app.toUpperCase()}_NODE_ARGS`] ?? '').split(' ').filter(Boolean),
      env: {
        NATS_URL: this.nats.url,
        PORT: '0',
        LONGREIN_PARTITIONS: String(PARTITIONS),
        LOG_FORMAT: 'json',
        LOG_LEVEL: 'info',
        ...env,
      },
    });
    this.#children.push(child);
    await child.json<{ msg?: string }>(({ msg }) => msg === `${app} is up`);
    return child;
  }
}

/** A session id that lives in this partition. */
export function sessionIn(partition: number, name: string): string {
  for (let i = 0; ; i++) {
    const id = `${name}-${i}`;
    if (partitionOf(id, PARTITIONS) === partition) return id;
  }
}
