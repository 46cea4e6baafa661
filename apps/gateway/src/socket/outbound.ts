import type { WebSocket } from 'ws';

/** Bytes on their way to the kernel above which a replay waits. */
const REPLAY_HIGH_WATER = 256 * 1024;

/** One connection's outbound side: a replay waits for a slow reader, the live tail does not. */
export class Outbound {
  constructor(
    private readonly socket: WebSocket,
    private readonly liveLimit: number,
  ) {}

  /** Sends a frame now, behind whatever is on its way. */
  send(frame: object): void {
    if (this.socket.readyState === this.socket.OPEN) this.socket.send(JSON.stringify(frame));
  }

  /** Sends an event of a replay; resolves when the reader has kept up. */
  async replay(event: object): Promise<void> {
    if (this.socket.readyState !== this.socket.OPEN) return;
    const text = JSON.stringify(event);
    if (this.socket.bufferedAmount < REPLAY_HIGH_WATER) {
      this.socket.send(text);
      return;
    }
    // Resolves also when the socket breaks; the close event ends the replay then.
    await new Promise<void>((resolve) => this.socket.send(text, () => resolve()));
  }

  /** Sends an event of the live tail. False when the reader has fallen too far behind: nothing was sent. */
  live(event: object): boolean {
    if (this.socket.readyState !== this.socket.OPEN) return true;
    if (this.socket.bufferedAmount > this.liveLimit) return false;
    this.socket.send(JSON.stringify(event));
    return true;
  }
}
