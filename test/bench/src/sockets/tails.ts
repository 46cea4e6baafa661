import { WebSocket } from 'ws';
import { TOKEN } from './deployment.js';

/** What the tails of a bench have received. */
export class Received {
  events = 0;
  /** Milliseconds from writing until receiving, of the tails that measure. */
  delays: number[] = [];
}

/** Text of a chunk that says when it was written, for the one who reads it. */
export function stamped(padding: string): string {
  return `${performance.now()} ${padding}`;
}

/** A client that follows one session from its end. */
export class Tail {
  /** Code of the last error frame. */
  error: string | undefined;
  isClosed = false;
  readonly closed: Promise<void>;

  private constructor(
    readonly socket: WebSocket,
    received: Received,
    measures: boolean,
  ) {
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
    void this.closed.then(() => (this.isClosed = true));
    socket.on('error', () => undefined);
    socket.on('message', (data: Buffer) => {
      // An event starts with its id; what only counts is not parsed, a thousand sockets share one process.
      const isFrame = data.length < 1_000 && data.includes('"type":"error"');
      if (isFrame) this.error = (JSON.parse(data.toString()) as { code: string }).code;
      if (!data.includes('"type":"assistant/chunk"')) return;
      received.events += 1;
      if (!measures) return;
      const { payload } = JSON.parse(data.toString()) as { payload: { text: string } };
      received.delays.push(performance.now() - parseFloat(payload.text));
    });
  }

  /** Connects and subscribes; it follows from what the server's hello says is the end. */
  static async open(url: string, session: string, received: Received, measures: boolean): Promise<Tail> {
    const socket = new WebSocket(`${url}/agents/${session}/ws`, {
      headers: { authorization: `Bearer ${TOKEN}` },
      perMessageDeflate: false,
    });
    const tail = new Tail(socket, received, measures);
    const hello = await Promise.race([
      new Promise<Buffer>((resolve) => socket.once('message', resolve)),
      tail.closed.then(() => Promise.reject(new Error(`${session}: the connection was refused`))),
    ]);
    const { last_seq } = JSON.parse(hello.toString()) as { last_seq: number };
    socket.send(JSON.stringify({ type: 'subscribe', from_seq: last_seq + 1 }));
    return tail;
  }

  /** Reads nothing more, once its live tail has begun. */
  async stall(): Promise<void> {
    await new Promise((resolve) => this.socket.once('message', resolve));
    this.socket.pause();
  }

  /** Reads on. */
  resume(): void {
    this.socket.resume();
  }

  close(): void {
    this.socket.terminate();
  }
}
