/** What a chunker needs of the log's scrubbers. */
export interface TextScrubber {
  /** Characters that may still become part of a match; 0 when there is nothing to scrub. */
  readonly holdBack: number;
  text(text: string): string;
}

/** Bytes of text after which a chunk is worth sending on its own. */
export const CHUNK_BYTES = 256;

/**
 * Coalesces a stream of text into chunks and keeps secrets out of them although they may be split over any number of
 * deltas. Text within the scrubbers' reach of the end is held back until more text, or the end of the run, shows that
 * no match touches it. The chunks of a run, joined, are the scrubbed run.
 */
export class TextChunker {
  #raw = '';

  constructor(
    private readonly scrubber: TextScrubber,
    private readonly bytes = CHUNK_BYTES,
  ) {}

  /** Whether text is waiting. */
  get pending(): boolean {
    return this.#raw !== '';
  }

  /** Adds a delta; returns a chunk once enough text is safe to send. */
  push(delta: string): string | undefined {
    this.#raw += delta;
    const cut = this.#safeCut();
    if (cut === 0 || Buffer.byteLength(this.#raw.slice(0, cut)) < this.bytes) return undefined;
    return this.#take(cut);
  }

  /** What is safe to send although it is little: for when it has waited long enough. */
  flush(): string | undefined {
    return this.#take(this.#safeCut());
  }

  /** The rest of the run: the model went on to something that is not this text. */
  end(): string | undefined {
    this.#raw = this.#raw.toWellFormed();
    return this.#take(this.#raw.length);
  }

  #take(cut: number): string | undefined {
    if (cut === 0) return undefined;
    const chunk = this.scrubber.text(this.#raw.slice(0, cut));
    this.#raw = this.#raw.slice(cut);
    return chunk === '' ? undefined : chunk;
  }

  /** The longest prefix that scrubs the same alone as together with what follows, whatever may still follow. */
  #safeCut(): number {
    const { holdBack } = this.scrubber;
    let cut = this.#raw.length - holdBack;
    // Half a surrogate pair is not text the log would take.
    if (cut > 0 && isHighSurrogate(this.#raw.charCodeAt(cut - 1))) cut -= 1;
    if (cut <= 0 || holdBack === 0) return Math.max(0, cut);
    const head = this.#raw.slice(0, cut);
    const split = this.scrubber.text(head) + this.scrubber.text(this.#raw.slice(cut));
    return split === this.scrubber.text(this.#raw) ? cut : 0;
  }
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
