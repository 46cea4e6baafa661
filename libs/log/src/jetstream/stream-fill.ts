import { type Clock, systemClock } from '@longrein/clock';
import type { StreamApi } from './stream-api.js';

/** How full one stream is. */
export interface StreamLevel {
  readonly stream: string;
  readonly bytes: number;
  /** Its byte limit; undefined where it has none of its own. */
  readonly max_bytes: number | undefined;
}

/** What watching streams needs. */
export interface StreamFillOptions {
  /** The streams to ask about, at every look. */
  readonly streams: () => readonly string[];
  /** Told when a stream comes to the threshold, once until it has been below it again. */
  readonly onAlarm: (level: StreamLevel & { readonly max_bytes: number }) => void;
  /** Told what kept it from looking. */
  readonly onProblem?: (error: unknown) => void;
  /** Part of its limit from which a stream is reported. Default 0.7. */
  readonly threshold?: number;
  /** Between two looks. Default 30,000. */
  readonly interval_ms?: number;
  readonly clock?: Clock;
}

/**
 * Looks from time to time how full streams are, so that somebody hears of it before appends are refused. Asks the
 * broker beside the work, never for it: what it knows is at most one interval old.
 */
export class StreamFill {
  readonly #levels = new Map<string, StreamLevel>();
  readonly #alarmed = new Set<string>();
  readonly #clock: Clock;
  #cancel: (() => void) | undefined;
  #stopped = false;

  constructor(
    private readonly api: Pick<StreamApi, 'request'>,
    private readonly options: StreamFillOptions,
  ) {
    this.#clock = options.clock ?? systemClock;
  }

  /** As of the last look. */
  get levels(): readonly StreamLevel[] {
    return [...this.#levels.values()];
  }

  /** Looks now, and from then on at every interval. */
  async start(): Promise<void> {
    await this.#look();
    if (!this.#stopped)
      this.#cancel = this.#clock.setTimeout(() => void this.start(), this.options.interval_ms ?? 30_000);
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
  }

  async #look(): Promise<void> {
    const streams = this.options.streams();
    for (const known of this.#levels.keys()) if (!streams.includes(known)) this.#levels.delete(known);
    for (const stream of streams) {
      if (this.#stopped) return;
      try {
        const info = await this.api.request<{ config: { max_bytes?: number }; state: { bytes: number } }>(
          `STREAM.INFO.${stream}`,
        );
        const { max_bytes = -1 } = info.config;
        this.#take({ stream, bytes: info.state.bytes, max_bytes: max_bytes > 0 ? max_bytes : undefined });
      } catch (error) {
        this.options.onProblem?.(error);
      }
    }
  }

  #take(level: StreamLevel): void {
    const { stream, bytes, max_bytes } = level;
    this.#levels.set(stream, level);
    if (max_bytes === undefined || bytes < max_bytes * (this.options.threshold ?? 0.7)) {
      this.#alarmed.delete(stream);
    } else if (!this.#alarmed.has(stream)) {
      this.#alarmed.add(stream);
      this.options.onAlarm({ ...level, max_bytes });
    }
  }
}
