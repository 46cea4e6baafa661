import type { ServerResponse } from 'node:http';
import type { FrameSink } from '../socket/frame-sink.js';

/**
 * Frames as Server-Sent Events. An event of the session is a message whose id is its seq, so that a client that
 * reconnects says where it was; protocol frames are events of the type `protocol` and have no id.
 */
export class SseSink implements FrameSink {
  constructor(private readonly response: ServerResponse) {}

  get isOpen(): boolean {
    return !this.response.destroyed && !this.response.writableEnded;
  }

  get waiting(): number {
    return this.response.writableLength;
  }

  write(frame: object, done?: () => void): void {
    const { seq } = frame as { seq?: number };
    const head = seq === undefined ? 'event: protocol' : `id: ${seq}`;
    this.response.write(`${head}\ndata: ${JSON.stringify(frame)}\n\n`, () => done?.());
  }

  /** What keeps the connection alive and says nothing. */
  comment(text: string): void {
    if (this.isOpen) this.response.write(`: ${text}\n\n`);
  }

  end(): void {
    this.response.end();
  }
}
