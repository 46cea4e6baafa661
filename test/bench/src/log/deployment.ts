import { partitionOf } from '@longrein/events';
import { LogClient } from '@longrein/log/client';
import { ChildProcess, type TestNats, startTestNats } from '@longrein/testing';
import { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/nats-core';

/** The partition that takes all the load; each of the others holds one session and nothing else. */
export const BUSY = 0;
export const QUIET = [1, 2, 3, 4] as const;
const PARTITIONS = 1 + QUIET.length;

/** A NATS server, the log service in a process of its own, and one connection on which everything is measured. */
export class LogDeployment {
  readonly log: LogClient;
  readonly js: JetStreamClient;
  #process: ChildProcess | undefined;

  private constructor(
    readonly nats: TestNats,
    readonly nc: NatsConnection,
    readonly jsm: JetStreamManager,
  ) {
    this.js = jetstream(nc);
    this.log = new LogClient(nc, { service: 'gateway', partitions: PARTITIONS });
  }

  static async start(): Promise<LogDeployment> {
    const nats = await startTestNats();
    try {
      const nc = await nats.connect();
      const deployment = new LogDeployment(nats, nc, await jetstreamManager(nc));
      await deployment.restartLog();
      return deployment;
    } catch (error) {
      await nats.stop();
      throw error;
    }
  }

  /** Runs the log service anew: its next process has seen no session. */
  async restartLog(): Promise<void> {
    await this.#process?.stop();
    this.#process = ChildProcess.start({
      entry: 'apps/log/dist/main.js',
      nodeArgs: (process.env['BENCH_LOG_NODE_ARGS'] ?? '').split(' ').filter(Boolean),
      env: {
        NATS_URL: this.nats.url,
        PORT: '0',
        LONGREIN_PARTITIONS: String(PARTITIONS),
        LOG_FORMAT: 'json',
        LOG_LEVEL: 'info',
      },
    });
    await this.#process.json<{ msg?: string }>(({ msg }) => msg === 'log is up');
  }

  async stop(): Promise<void> {
    try {
      await this.#process?.stop();
    } finally {
      await this.nats.stop();
    }
  }
}

/** A session id that lives in this partition. */
export function sessionIn(partition: number, name: string): string {
  for (let i = 0; ; i++) {
    const id = `${name}-${i}`;
    if (partitionOf(id, PARTITIONS) === partition) return id;
  }
}
