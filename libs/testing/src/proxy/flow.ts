import type { Socket } from 'node:net';
import type { Clock } from '@longrein/clock';
import { FrameParser, type NatsFrame } from './frames.js';

/** Rules for the bytes of one direction, shared by all connections of a proxy and changed while they run. */
export interface FlowRules {
  paused: boolean;
  delayMs: number;
  readonly filters: Set<(frame: NatsFrame) => boolean>;
}

/** One direction of one connection: carries bytes from a socket to another under the rules. */
export class Flow {
  private readonly parser = new FrameParser();
  private readonly held: Buffer[] = [];
  private inOrder: Promise<void> = Promise.resolve();
  private delayed = 0;

  constructor(
    private readonly from: Socket,
    private readonly to: Socket,
    private readonly rules: FlowRules,
    private readonly clock: Clock,
  ) {
    from.on('data', (bytes: Buffer) => this.take(bytes));
    from.on('end', () => this.finish());
    to.on('drain', () => from.resume());
  }

  /** Sends on what was held while the direction was paused. */
  release(): void {
    for (const bytes of this.held.splice(0)) this.send(bytes);
  }

  private take(bytes: Buffer): void {
    // Frames are always tracked, so that a filter can be added in the middle of a connection.
    for (const frame of this.parser.push(bytes)) {
      if (![...this.rules.filters].some((drops) => drops(frame))) this.pass(frame.raw);
    }
  }

  private pass(bytes: Buffer): void {
    if (this.rules.paused) this.held.push(bytes);
    else this.send(bytes);
  }

  private send(bytes: Buffer): void {
    const { delayMs } = this.rules;
    // A frame behind a delayed one must not overtake it, also after the delay was taken off.
    if (delayMs === 0 && this.delayed === 0) return this.write(bytes);
    this.delayed++;
    const due = this.clock.sleep(delayMs);
    this.inOrder = this.inOrder
      .then(() => due)
      .then(() => {
        this.delayed--;
        this.write(bytes);
      });
  }

  private write(bytes: Buffer): void {
    if (!this.to.destroyed && !this.to.write(bytes)) this.from.pause();
  }

  private finish(): void {
    void this.inOrder.then(() => this.to.end());
  }
}
