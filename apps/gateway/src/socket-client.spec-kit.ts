import { once } from 'node:events';
import type { EventEnvelope } from '@longrein/events';
import { type ClientOptions, WebSocket } from 'ws';

/** A frame as the client gets it. */
export type Frame = { readonly type: string; readonly seq?: number } & Readonly<Record<string, unknown>>;

/** A real client of the agent socket, for specs. Frames are handed out once, in the order they came. */
export class SocketClient {
  readonly socket: WebSocket;
  readonly closed: Promise<{ code: number; reason: string }>;
  private readonly waiting: Frame[] = [];
  private isClosed = false;
  private wake = (): void => undefined;

  constructor(url: string, path: string, token?: string, options: ClientOptions = {}) {
    this.socket = new WebSocket(`${url.replace(/^http/, 'ws')}${path}`, {
      ...options,
      ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
    });
    this.socket.on('message', (data: Buffer) => {
      this.waiting.push(JSON.parse(data.toString('utf8')) as Frame);
      this.wake();
    });
    this.closed = new Promise((resolve) => {
      this.socket.on('close', (code, reason) => {
        this.isClosed = true;
        this.wake();
        resolve({ code, reason: reason.toString() });
      });
    });
    this.socket.on('error', () => undefined);
  }

  /** Connects to an agent's socket and takes the `hello`. */
  static async open(url: string, agent: string, token: string): Promise<SocketClient & { hello: Frame }> {
    const client = new SocketClient(url, `/agents/${agent}/ws`, token);
    const hello = await client.next();
    if (hello.type !== 'hello') throw new Error(`expected hello, got ${JSON.stringify(hello)}`);
    return Object.assign(client, { hello });
  }

  /** The next frame. Rejects when the connection ends before there is one. */
  async next(): Promise<Frame> {
    for (;;) {
      const frame = this.waiting.shift();
      if (frame) return frame;
      if (this.isClosed) throw new Error('the connection ended');
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  /** The next frame, which must be an event. */
  async event(): Promise<EventEnvelope> {
    const frame = await this.next();
    if (frame.seq === undefined) throw new Error(`expected an event, got ${JSON.stringify(frame)}`);
    return frame as unknown as EventEnvelope;
  }

  /** Events up to and including the one of this seq. */
  async eventsTo(seq: number): Promise<EventEnvelope[]> {
    const events: EventEnvelope[] = [];
    for (;;) {
      const event = await this.event();
      events.push(event);
      if (event.seq >= seq) return events;
    }
  }

  /** Everything that still comes until the connection ends. */
  async rest(): Promise<Frame[]> {
    await this.closed;
    return this.waiting.splice(0);
  }

  /** Frames that have come and were not taken. */
  get pending(): readonly Frame[] {
    return this.waiting;
  }

  send(frame: object | string | Buffer, options: { binary?: boolean } = {}): void {
    const data = typeof frame === 'string' || Buffer.isBuffer(frame) ? frame : JSON.stringify(frame);
    this.socket.send(data, { binary: options.binary ?? false });
  }

  /**
   * Everything the server sent before now has come, and it handled every frame sent before now: answers are in order,
   * so that the answer to a frame it must refuse comes last.
   */
  async settled(): Promise<Frame[]> {
    const marker = `settled-${Math.random()}`;
    this.send({ type: marker });
    const before: Frame[] = [];
    for (;;) {
      const frame = await this.next();
      if (frame.type === 'error' && String(frame['message']).includes(marker)) return before;
      before.push(frame);
    }
  }

  /** Breaks the connection as a dying network does. */
  kill(): void {
    this.socket.terminate();
  }

  async close(): Promise<void> {
    if (this.socket.readyState === WebSocket.CLOSED) return;
    if (this.socket.isPaused) this.socket.resume();
    const closed = once(this.socket, 'close');
    this.socket.close();
    await closed;
  }
}
