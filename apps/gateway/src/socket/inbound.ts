import type { WebSocket } from 'ws';

/** Frames that may wait to be handled before the client's next ones are left in the network. */
const WAITING_FRAMES = 64;
const WAITING_BYTES = 2 * 1024 * 1024;

/** One connection's inbound side: work is done piece by piece in the order it came, and no faster than it is done. */
export class Inbound {
  #last: Promise<void> = Promise.resolve();
  #frames = 0;
  #bytes = 0;

  constructor(private readonly socket: WebSocket) {}

  /** Queues work for a frame of this size. The work must not reject. */
  push(bytes: number, work: () => Promise<void>): void {
    this.#frames++;
    this.#bytes += bytes;
    if (!this.#hasRoom() && !this.socket.isPaused) this.socket.pause();
    this.#last = this.#last.then(work).finally(() => {
      this.#frames--;
      this.#bytes -= bytes;
      if (this.socket.isPaused && this.#hasRoom()) this.socket.resume();
    });
  }

  #hasRoom(): boolean {
    return this.#frames < WAITING_FRAMES && this.#bytes < WAITING_BYTES;
  }
}
