import { afterEach, describe, expect, it } from '@jest/globals';
import type { NatsConnection } from '@nats-io/nats-core';
import { Pipeline } from './pipeline.js';
import type { StreamApi } from './stream-api.js';
import type { Outgoing } from './stream-writer.js';

type Answer = (error: null, msg: { subject: string; json: () => unknown }) => void;

/** A connection whose stream answers only when the test says so. */
class SilentStream {
  readonly published: { reply: string | undefined; bytes: number }[] = [];
  #answer: Answer = () => undefined;

  readonly nc = {
    subscribe: (_: string, { callback }: { callback: Answer }) => {
      this.#answer = callback;
      return { unsubscribe: () => undefined };
    },
    publish: (_: string, body: Uint8Array, { reply }: { reply?: string }) => {
      this.published.push({ reply, bytes: body.length });
    },
    flush: () => Promise.resolve(),
  } as unknown as NatsConnection;

  acknowledge(index: number, seq: number): void {
    this.#answer(null, { subject: this.published[index]!.reply!, json: () => ({ stream: 'S', seq }) });
  }
}

function message(bytes: number): Outgoing {
  return { subject: 's', messageId: 'm', headers: '', body: Buffer.alloc(bytes) };
}

describe('Pipeline', () => {
  let pipeline: Pipeline;
  afterEach(() => pipeline.stop());

  function start(options: { window_bytes: number; queue_bytes: number }): SilentStream {
    const stream = new SilentStream();
    pipeline = new Pipeline(
      { nc: stream.nc, api: {} as StreamApi },
      { stream: 'S', term: 't', last: 10, mode: 'chained' },
      { onEnd: () => undefined, onReset: () => undefined },
      { ...options, ack_timeout_ms: 3_600_000 },
    );
    return stream;
  }

  it('refuses what would wait behind too many bytes, and takes it once some are stored', async () => {
    const stream = start({ window_bytes: 1_000, queue_bytes: 2_000 });
    for (let i = 0; i < 3; i++) pipeline.submit([message(500), message(500)]);
    pipeline.submit([message(10)]);
    expect(() => pipeline.submit([message(10)])).toThrow(expect.objectContaining({ code: 'unavailable' }));
    expect(pipeline.next).toBe(18);
    const settled = pipeline.settled(12);
    stream.acknowledge(1, 12);
    await settled;
    pipeline.submit([message(10)]);
    expect(pipeline.next).toBe(19);
    expect(stream.published).toHaveLength(4);
  });
});
