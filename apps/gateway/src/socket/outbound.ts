import type { FrameSink } from './frame-sink.js';

/** Bytes on their way to the kernel above which what can wait does. */
const HIGH_WATER = 256 * 1024;

/** One connection's outbound side: replays and answers wait for a slow reader, the live tail does not. */
export class Outbound {
  constructor(
    private readonly sink: FrameSink,
    private readonly liveLimit: number,
  ) {}

  /** Sends a frame now, behind whatever is on its way. */
  send(frame: object): void {
    if (this.sink.isOpen) this.sink.write(frame);
  }

  /**
   * Sends a frame at the reader's speed. Resolves when the reader has kept up, or is gone, with whether that took
   * waiting for it.
   */
  async paced(frame: object): Promise<boolean> {
    if (!this.sink.isOpen) return false;
    if (this.sink.waiting < HIGH_WATER) {
      this.sink.write(frame);
      return false;
    }
    // Resolves also when the connection breaks; its end ends whatever sends then.
    await new Promise<void>((resolve) => this.sink.write(frame, resolve));
    return true;
  }

  /** Sends an event of the live tail. False when the reader has fallen too far behind: nothing was sent. */
  live(event: object): boolean {
    if (!this.sink.isOpen) return true;
    if (this.sink.waiting > this.liveLimit) return false;
    this.sink.write(event);
    return true;
  }
}
