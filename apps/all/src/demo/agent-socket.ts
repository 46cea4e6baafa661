import { once } from 'node:events';
import type { EventEnvelope } from '@longrein/events';
import { WebSocket } from 'ws';

/** What a server frame can be. */
export type Frame = EventEnvelope | { readonly type: string; readonly [field: string]: unknown };

/** One connection to an agent's socket. */
export class AgentSocket {
  private constructor(
    private readonly socket: WebSocket,
    private readonly frames: AsyncIterator<Frame>,
    /** Seq of the session's last event when the connection was opened. */
    readonly lastSeq: number,
  ) {}

  /** Connects and waits for the server's `hello`. */
  static async open(url: string, agentId: string, token: string, signal: AbortSignal): Promise<AgentSocket> {
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/agents/${agentId}/ws`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const frames = framesOf(socket, signal);
    await once(socket, 'open', { signal });
    const first = await frames.next();
    const hello = first.done ? undefined : (first.value as { readonly type: string; readonly last_seq?: number });
    if (hello?.type !== 'hello') throw new Error(`expected hello, got ${JSON.stringify(hello)}`);
    return new AgentSocket(socket, frames, hello.last_seq ?? -1);
  }

  send(frame: object): void {
    this.socket.send(JSON.stringify(frame));
  }

  /** The next event. Throws when the server sends an error or the connection ends. */
  async next(): Promise<EventEnvelope> {
    const { value, done } = await this.frames.next();
    if (done) throw new Error('the connection ended');
    if ('seq' in value) return value as EventEnvelope;
    throw new Error(`the server says ${JSON.stringify(value)}`);
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

/** Frames in order, also those that came before anybody asked. Ends with the connection. */
async function* framesOf(socket: WebSocket, signal: AbortSignal): AsyncGenerator<Frame, void> {
  const waiting: Frame[] = [];
  let failure: Error | undefined;
  let over = false;
  let wake = (): void => undefined;
  socket.on('message', (data: Buffer) => {
    waiting.push(JSON.parse(data.toString('utf8')) as Frame);
    wake();
  });
  socket.on('error', (error) => {
    failure = error;
    wake();
  });
  const end = (): void => {
    over = true;
    wake();
  };
  socket.on('close', end);
  signal.addEventListener('abort', end, { once: true });
  for (;;) {
    const frame = waiting.shift();
    if (frame) yield frame;
    else if (failure) throw failure;
    else if (over) return;
    else await new Promise<void>((resolve) => (wake = resolve));
  }
}
