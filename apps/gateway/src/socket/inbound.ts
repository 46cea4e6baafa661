import type { WebSocket } from 'ws';

/** Frames that may wait to be handled before the client's next ones are left in the network. */
const WAITING_FRAMES = 64;
const WAITING_BYTES = 2 * 1024 * 1024;

/** One connection's inbound side: work is done piece by piece in the order it came, and no faster than it is done. */
export class Inbound {
  #last: Promise<void> = Promise.resolve();
  #frames = 0;
  #bytes = 0;

  constructor(private readonly socket: Pick<WebSocket, 'isPaused' | 'pause' | 'resume'>) {}

  /** Queues work for a frame of this size; resolves when it is done. The work must not reject. */
  push(bytes: number, work: () => Promise<void>): Promise<void> {
    this.#frames++;
    this.#bytes += bytes;
    const isFull = this.#frames >= WAITING_FRAMES || this.#bytes >= WAITING_BYTES;
    if (isFull && !this.socket.isPaused) this.socket.pause();
    this.#last = this.#last.then(work).finally(() => {
      this.#frames--;
      this.#bytes -= bytes;
      const isLow = this.#frames <= WAITING_FRAMES / 4 && this.#bytes <= WAITING_BYTES / 4;
      if (isLow && this.socket.isPaused) this.socket.resume();
    });
    return this.#last;
  }
}
