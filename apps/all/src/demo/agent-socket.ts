import { once } from 'node:events';
import type { EventEnvelope } from '@longrein/events';
import { WebSocket } from 'ws';

/** What a server frame can be. */
export type Frame = EventEnvelope | { readonly type: string; readonly [field: string]: unknown };

/** One connection to an agent's socket. */
export class AgentSocket {
  private constructor(
    private readonly socket: WebSocket,
    private readonly frames: FrameQueue,
    /** Seq of the session's last event when the connection was opened. */
    readonly lastSeq: number,
  ) {}

  /** Connects and waits for the server's `hello`. */
  static async open(url: string, agentId: string, token: string, signal: AbortSignal): Promise<AgentSocket> {
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/agents/${agentId}/ws`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const frames = new FrameQueue(socket, signal);
    await once(socket, 'open', { signal });
    const hello = (await frames.next()) as { readonly type: string; readonly last_seq?: number } | undefined;
    if (hello?.type !== 'hello') throw new Error(`expected hello, got ${JSON.stringify(hello)}`);
    return new AgentSocket(socket, frames, hello.last_seq ?? -1);
  }

  send(frame: object): void {
    this.socket.send(JSON.stringify(frame));
  }

  /** The next event. Throws when the server sends an error or the connection ends. */
  async next(): Promise<EventEnvelope> {
    const frame = await this.frames.next();
    if (!frame) throw new Error('the connection ended, or it took too long');
    if ('seq' in frame) return frame as EventEnvelope;
    throw new Error(`the server says ${JSON.stringify(frame)}`);
  }

  /** Breaks the connection without a word, as a dying network does. */
  kill(): void {
    this.socket.terminate();
  }

  /** Closes the connection in order. */
  async close(): Promise<void> {
    if (this.socket.readyState === WebSocket.CLOSED) return;
    const closed = once(this.socket, 'close');
    this.socket.close();
    await closed;
  }
}

/** Collects frames from the moment it is made: the first one may come together with the end of the handshake. */
class FrameQueue {
  private readonly waiting: Frame[] = [];
  private failure: Error | undefined;
  private over = false;
  private wake = (): void => undefined;

  constructor(socket: WebSocket, signal: AbortSignal) {
    socket.on('message', (data: Buffer) => {
      this.waiting.push(JSON.parse(data.toString('utf8')) as Frame);
      this.wake();
    });
    socket.on('error', (error) => {
      this.failure = error;
      this.wake();
    });
    const end = (): void => {
      this.over = true;
      this.wake();
    };
    socket.on('close', end);
    signal.addEventListener('abort', end, { once: true });
  }

  /** The next frame; nothing once the connection or the caller's time is over. Throws when the connection failed. */
  async next(): Promise<Frame | undefined> {
    for (;;) {
      const frame = this.waiting.shift();
      if (frame) return frame;
      if (this.failure) throw this.failure;
      if (this.over) return undefined;
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }
}
