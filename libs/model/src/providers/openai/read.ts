import { z } from 'zod';
import type { ReadOptions } from '../../call/provider.js';
import { type CallSlot, ReplyParts } from '../../call/reply-parts.js';
import { usageOf } from '../../call/usage.js';
import { ModelError } from '../../errors.js';
import type { ModelDelta, ModelReply, StopReason } from '../../port.js';
import { type OpenAiCallDelta, type OpenAiChunk, type OpenAiDelta, openAiChunk } from './chunk.js';
import { ReasoningReader } from './read-reasoning.js';

/** Reads a streamed chat completion. Ends with `done` when the answer carried a finish reason, else without. */
export async function* readOpenAi(chunks: AsyncIterable<unknown>, options: ReadOptions): AsyncGenerator<ModelDelta> {
  const reader = new OpenAiReader(options);
  try {
    for await (const chunk of chunks) yield* reader.read(chunk);
  } catch (error) {
    // The answer is complete with its finish reason; what is lost behind it is the usage.
    if (!reader.finished) throw error;
  }
  yield* reader.end();
}

class OpenAiReader {
  readonly #options: ReadOptions;
  readonly #parts: ReplyParts;
  readonly #reasoning: ReasoningReader;
  /** Calls by their index; the latest is where pieces without index and id belong. */
  readonly #calls = new Map<number, CallSlot>();
  #call: CallSlot | undefined;
  #refused = false;
  #finish: string | undefined;
  #usage: OpenAiChunk['usage'];

  constructor(options: ReadOptions) {
    this.#options = options;
    this.#parts = new ReplyParts(options);
    this.#reasoning = new ReasoningReader(this.#parts);
  }

  get finished(): boolean {
    return this.#finish !== undefined;
  }

  *read(raw: unknown): Generator<ModelDelta> {
    const parsed = openAiChunk.safeParse(raw);
    if (!parsed.success) throw badChunk(parsed.error);
    const { choices, usage } = parsed.data;
    if (usage) this.#usage = usage;
    const choice = choices?.[0];
    if (choice?.delta) yield* this.#readDelta(choice.delta);
    if (choice?.finish_reason) this.#finish = choice.finish_reason;
  }

  *end(): Generator<ModelDelta> {
    if (this.#finish === undefined) return;
    yield* this.#parts.close();
    const usage = this.#usage && this.#readUsage(this.#usage);
    yield {
      type: 'done',
      parts: this.#parts.finish(),
      ...(usage ? { usage } : {}),
      stop_reason: this.#stopReason(this.#finish),
    };
  }

  *#readDelta(delta: OpenAiDelta): Generator<ModelDelta> {
    yield* this.#reasoning.read(delta);
    if (delta.content) yield* this.#parts.text(delta.content);
    if (delta.refusal) {
      this.#refused = true;
      yield* this.#parts.text(delta.refusal);
    }
    for (const piece of delta.tool_calls ?? []) yield* this.#readCall(piece);
  }

  *#readCall({ index, id, function: called }: OpenAiCallDelta): Generator<ModelDelta> {
    let slot = index == null ? this.#call : this.#calls.get(index);
    // Some servers number every call 0 and tell them apart by id.
    const another = slot !== undefined && Boolean(id) && id !== slot.id && Boolean(called?.name);
    if (!slot || another) {
      slot = yield* this.#parts.beginCall(id ?? '', this.#options.toolName(called?.name ?? ''));
      if (index != null) this.#calls.set(index, slot);
    }
    this.#call = slot;
    slot.args += called?.arguments ?? '';
  }

  #readUsage(usage: NonNullable<OpenAiChunk['usage']>): ModelReply['usage'] {
    return usageOf(
      {
        prompt: usage.prompt_tokens,
        completion: usage.completion_tokens,
        cached: usage.prompt_tokens_details?.cached_tokens,
        cost: usage.cost,
      },
      this.#options.model,
      this.#options.prices,
    );
  }

  #stopReason(finish: string): StopReason {
    if (finish === 'length') return 'length';
    if (finish === 'content_filter' || this.#refused) return 'refusal';
    if (this.#parts.hasCalls) return 'tool_calls';
    return finish === 'stop' ? 'end' : 'other';
  }
}

function badChunk(error: z.ZodError): ModelError {
  return new ModelError('bad_stream', `a chunk is not a chat completion's: ${z.prettifyError(error)}`, false);
}
