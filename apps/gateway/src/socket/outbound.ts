import type { WebSocket } from 'ws';

/** Bytes on their way to the kernel above which what can wait does. */
const HIGH_WATER = 256 * 1024;

/** One connection's outbound side: replays and answers wait for a slow reader, the live tail does not. */
export class Outbound {
  constructor(
    private readonly socket: WebSocket,
    private readonly liveLimit: number,
  ) {}

  /** Sends a frame now, behind whatever is on its way. */
  send(frame: object): void {
    if (this.socket.readyState === this.socket.OPEN) this.socket.send(JSON.stringify(frame));
  }

  /**
   * Sends a frame at the reader's speed. Resolves when the reader has kept up, or is gone, with whether that took
   * waiting for it.
   */
  async paced(frame: object): Promise<boolean> {
    if (this.socket.readyState !== this.socket.OPEN) return false;
    const text = JSON.stringify(frame);
    if (this.socket.bufferedAmount < HIGH_WATER) {
      this.socket.send(text);
      return false;
    }
    // Resolves also when the socket breaks; the close event ends whatever sends then.
    await new Promise<void>((resolve) => this.socket.send(text, () => resolve()));
    return true;
  }

  /** Sends an event of the live tail. False when the reader has fallen too far behind: nothing was sent. */
  live(event: object): boolean {
    if (this.socket.readyState !== this.socket.OPEN) return true;
    if (this.socket.bufferedAmount > this.liveLimit) return false;
    this.socket.send(JSON.stringify(event));
    return true;
  }
}
