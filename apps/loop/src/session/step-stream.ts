import type { Clock } from '@longrein/clock';
import { ModelError, type ModelPort, type ModelReply, type ModelRequest } from '@longrein/model';
import { TextChunker, type TextScrubber } from '../core/text-chunker.js';

/** Milliseconds that text waits for more text before it is sent as a chunk. */
export const CHUNK_MS = 100;

/** Text that may wait for the log, in characters: beyond it the provider's stream is not read on. */
const MAX_WAITING = 64 * 1024;

/** Most characters of text that ride along with the answer instead of going out as a chunk of their own. */
const MAX_TAIL = 4096;

/** An answer, and the end of its text where that has not gone out as a chunk: it belongs right before the answer. */
export interface StreamedReply {
  readonly reply: ModelReply;
  readonly tail: string;
}

/** What one streamed step needs. */
export interface StepStreamDeps {
  readonly model: ModelPort;
  readonly scrubber: TextScrubber;
  readonly clock: Clock;
  /** Sends one chunk. At most one is under way; text that comes meanwhile goes into the next. */
  readonly send: (chunk: string) => Promise<void>;
}

/**
 * Streams one answer: text goes out as chunks while it arrives, the whole answer is returned once every chunk but the
 * last is sent. Throws the port's `ModelError`, or whatever `send` threw.
 */
export async function streamStep(
  deps: StepStreamDeps,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<StreamedReply> {
  const sender = new ChunkSender(deps);
  try {
    for await (const delta of deps.model.stream(request, { signal })) {
      signal.throwIfAborted();
      if (delta.type === 'text') await sender.text(delta.text);
      else sender.endRun();
      if (delta.type === 'done') return { reply: delta, tail: await sender.rest() };
    }
  } finally {
    sender.close();
  }
  throw new ModelError('stream_cut', 'the stream ended without saying that the answer is complete', true);
}

/** Times chunks: a full one goes at once, a small one after it has waited long enough, and one at a time. */
class ChunkSender {
  readonly #chunker: TextChunker;
  #sending: Promise<void> | undefined;
  #cancelTimer: (() => void) | undefined;
  #failure: { readonly error: unknown } | undefined;
  #waiting = '';
  /** What waits is the end of a run: no text of the next joins it. */
  #ended = false;

  constructor(private readonly deps: StepStreamDeps) {
    this.#chunker = new TextChunker(deps.scrubber);
  }

  /** Takes a delta of the current run of text. */
  async text(delta: string): Promise<void> {
    if (this.#ended) await this.#flush();
    this.#throwFailure();
    this.#waiting += this.#chunker.push(delta) ?? '';
    if (this.#waiting !== '') this.#send();
    else this.#cancelTimer ??= this.deps.clock.setTimeout(() => this.#expired(), CHUNK_MS);
    if (this.#waiting.length > MAX_WAITING) await this.#sending;
  }

  /** The run is over: everything of it goes out before text of another, and no later than text that waits. */
  endRun(): void {
    this.#waiting += this.#chunker.end() ?? '';
    this.#ended = this.#waiting !== '';
    if (this.#ended) this.#cancelTimer ??= this.deps.clock.setTimeout(() => this.#expired(), CHUNK_MS);
  }

  /** Nothing more comes: what has not gone out yet, once the rest has. Nothing where that is too much. */
  async rest(): Promise<string> {
    this.#stopTimer();
    while (this.#sending) await this.#sending;
    if (this.#waiting.length > MAX_TAIL) await this.#flush();
    this.#throwFailure();
    const tail = this.#waiting;
    this.#waiting = '';
    return tail;
  }

  close(): void {
    this.#stopTimer();
    this.#waiting = '';
  }

  async #flush(): Promise<void> {
    this.#stopTimer();
    while (this.#waiting !== '' || this.#sending) {
      this.#send();
      await this.#sending;
    }
    this.#ended = false;
  }

  #expired(): void {
    this.#cancelTimer = undefined;
    this.#waiting += this.#chunker.flush() ?? '';
    if (this.#waiting !== '') this.#send();
    // Held back text is sent by what follows it, or by the end of the run.
  }

  #send(): void {
    if (this.#sending || this.#waiting === '' || this.#failure) {
      if (this.#failure) this.#waiting = '';
      return;
    }
    this.#stopTimer();
    const chunk = this.#waiting;
    this.#waiting = '';
    this.#sending = this.deps
      .send(chunk)
      .catch((error: unknown) => {
        this.#failure = { error };
      })
      .finally(() => {
        this.#sending = undefined;
        this.#send();
      });
  }

  #stopTimer(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  #throwFailure(): void {
    if (this.#failure) throw this.#failure.error;
  }
}
