import type { NatsFrame } from './frames.js';

/** A standing order to lose frames, and the frames it lost. */
export class Interception {
  private readonly lost: NatsFrame[] = [];
  private readonly waiters = new Set<() => void>();
  private active = true;

  constructor(
    private readonly matches: (frame: NatsFrame) => boolean,
    private readonly times: number,
    private readonly lift: () => void,
  ) {}

  /** Frames lost so far. */
  get dropped(): readonly NatsFrame[] {
    return this.lost;
  }

  /** Resolves when `count` frames have been lost. */
  async whenDropped(count = 1): Promise<void> {
    while (this.lost.length < count) {
      await new Promise<void>((resolve) => this.waiters.add(resolve));
    }
  }

  /** Loses nothing from now on. */
  remove(): void {
    this.active = false;
    this.lift();
  }

  /** Whether this frame is to be lost; counts it when it is. */
  readonly decide = (frame: NatsFrame): boolean => {
    if (!this.active || !this.matches(frame)) return false;
    // The bytes belong to a shared buffer; what a test looks at later must be its own copy.
    this.lost.push({
      ...frame,
      raw: Buffer.from(frame.raw),
      ...(frame.payload ? { payload: Buffer.from(frame.payload) } : {}),
    });
    if (this.lost.length >= this.times) this.remove();
    for (const tell of this.waiters) tell();
    this.waiters.clear();
    return true;
  };
}
