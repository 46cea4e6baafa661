import type { IncomingMessage } from 'node:http';
import { type Clock, systemClock } from '@longrein/clock';
import { WebSocket } from 'ws';
import type { Settings } from '../settings.js';
import { refusal } from './gateway-client.js';

/** A frame of the agent socket. Events have a `seq`. */
export interface Frame {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Frames that may wait to be printed before the gateway's next ones are left in the network. */
const WAITING_FRAMES = 1_000;

const PING_MS = 20_000;

/** One read-only connection to a session: it disturbs nobody who steers the agent. */
export class WatchSocket {
  readonly #socket: WebSocket;
  readonly #frames: Frame[] = [];
  #failure: Error | undefined;
  #isClosed = false;
  #wake = (): void => undefined;

  constructor(settings: Settings, id: string, signal: AbortSignal, clock: Clock = systemClock) {
    const { url, token } = settings;
    const address = `${url.replace(/^http/, 'ws')}/agents/${encodeURIComponent(id)}/ws?access=read`;
    const socket = new WebSocket(address, {
      ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
      handshakeTimeout: 15_000,
    });
    this.#socket = socket;
    socket.on('message', (data: Buffer) => {
      this.#frames.push(JSON.parse(data.toString('utf8')) as Frame);
      if (this.#frames.length >= WAITING_FRAMES) socket.pause();
      this.#wake();
    });
    socket.on('unexpected-response', (_request, response: IncomingMessage) => {
      void bodyOf(response).then((body) => {
        this.#failure = refusal(response.statusCode ?? 0, body, settings);
        socket.terminate();
      });
    });
    socket.on('error', (error) => {
      this.#failure ??= error;
    });
    const stop = (): void => socket.terminate();
    signal.addEventListener('abort', stop, { once: true });
    const stopPinging = ping(socket, clock);
    socket.on('close', () => {
      stopPinging();
      signal.removeEventListener('abort', stop);
      this.#isClosed = true;
      this.#wake();
    });
  }

  /** What made the connection fail, if anything did. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  send(frame: object): void {
    this.#socket.send(JSON.stringify(frame));
  }

  /** The next frame; nothing when the connection has ended. */
  async next(): Promise<Frame | undefined> {
    for (;;) {
      const frame = this.#frames.shift();
      if (frame) {
        if (this.#socket.isPaused && this.#frames.length < WAITING_FRAMES / 2) this.#socket.resume();
        return frame;
      }
      if (this.#isClosed) return undefined;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  /** Ends the connection. */
  close(): void {
    this.#socket.terminate();
  }
}

/** Breaks the connection when the gateway vanished without a word. */
function ping(socket: WebSocket, clock: Clock): () => void {
  let answered = true;
  socket.on('pong', () => {
    answered = true;
  });
  const tick = (): void => {
    if (!answered && !socket.isPaused) {
      socket.terminate();
      return;
    }
    if (socket.readyState === WebSocket.OPEN) {
      answered = false;
      socket.ping();
    }
    cancel = clock.setTimeout(tick, PING_MS);
  };
  let cancel = clock.setTimeout(tick, PING_MS);
  return () => cancel();
}

async function bodyOf(response: IncomingMessage): Promise<string> {
  let body = '';
  try {
    for await (const part of response.setEncoding('utf8')) body += part as string;
  } catch {
    // Cut short: what came is all there is.
  }
  return body;
}
