import { setTimeout as sleep } from 'node:timers/promises';
import type { SocketDeployment } from './deployment.js';
import { stamped } from './tails.js';

/** Streams chunks into one session, as a turn does. */
export class SessionWriter {
  #streaming: Promise<void> = Promise.resolve();
  #stopped = false;

  private constructor(
    private readonly deployment: SocketDeployment,
    readonly id: string,
    private last: number,
  ) {}

  static async create(deployment: SocketDeployment, id: string): Promise<SessionWriter> {
    const { last_seq } = await deployment.creator.create(id);
    return new SessionWriter(deployment, id, last_seq);
  }

  /** Begins to stream chunks of this many bytes, so many a second. */
  stream(perSecond: number, bytes: number): void {
    const padding = 'x'.repeat(bytes);
    this.#streaming = this.#stream(1000 / perSecond, padding);
    // Looked at by `stop`.
    this.#streaming.catch(() => undefined);
  }

  /** Rejects with what ended the stream before its time. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#streaming;
  }

  async #stream(interval: number, padding: string): Promise<void> {
    // Sessions do not stream in step.
    await sleep(Math.random() * interval);
    for (let next = performance.now(); !this.#stopped; next += interval) {
      const events = [{ type: 'assistant/chunk', payload: { text: stamped(padding) } }];
      ({ seq: this.last } = await this.deployment.writer.append(this.id, { events, since: this.last }));
      await sleep(Math.max(0, next + interval - performance.now()));
    }
  }
}
