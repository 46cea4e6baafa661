import { z } from 'zod';
import type { ReadOptions } from '../../call/provider.js';
import { type CallSlot, type ReasoningSlot, ReplyParts } from '../../call/reply-parts.js';
import { usageOf } from '../../call/usage.js';
import { ModelError } from '../../errors.js';
import type { ModelDelta, StopReason } from '../../port.js';
import {
  ANTHROPIC_EVENTS,
  type AnthropicBlock,
  type AnthropicEvent,
  type AnthropicUsage,
  anthropicEvent,
} from './event.js';

/** Reads a streamed message. Ends with `done` when `message_stop` came, else without. */
export async function* readAnthropic(events: AsyncIterable<unknown>, options: ReadOptions): AsyncGenerator<ModelDelta> {
  const reader = new AnthropicReader(options);
  for await (const event of events) yield* reader.read(event);
}

type OpenBlock = ReasoningSlot | CallSlot | { readonly type: 'text' };

class AnthropicReader {
  readonly #options: ReadOptions;
  readonly #parts: ReplyParts;
  readonly #blocks = new Map<number, OpenBlock>();
  #usage: AnthropicUsage = {};
  #stop: string | null | undefined;

  constructor(options: ReadOptions) {
    this.#options = options;
    this.#parts = new ReplyParts(options);
  }

  *read(raw: unknown): Generator<ModelDelta> {
    if (!ANTHROPIC_EVENTS.has((raw as { type?: unknown } | null)?.type)) return;
    const parsed = anthropicEvent.safeParse(raw);
    if (!parsed.success) {
      throw new ModelError('bad_stream', `an event is not a message's: ${z.prettifyError(parsed.error)}`, false);
    }
    const event = parsed.data;
    switch (event.type) {
      case 'message_start':
        return this.#count(event.message.usage);
      case 'content_block_start':
        return yield* this.#begin(event.index, event.content_block);
      case 'content_block_delta':
        return yield* this.#grow(event);
      case 'content_block_stop':
        return yield* this.#parts.close();
      case 'message_delta':
        this.#stop = event.delta.stop_reason ?? this.#stop;
        return this.#count(event.usage);
      case 'message_stop':
        return yield* this.#end();
    }
  }

  *#begin(index: number, block: AnthropicBlock): Generator<ModelDelta> {
    switch (block.type) {
      case 'text':
        this.#blocks.set(index, { type: 'text' });
        return yield* this.#parts.text(block.text ?? '');
      case 'thinking': {
        const slot = yield* this.#parts.beginReasoning('thinking', { signature: block.signature ?? '' });
        this.#blocks.set(index, slot);
        return yield* this.#parts.reasoning(slot, block.thinking ?? '');
      }
      case 'redacted_thinking':
        this.#blocks.set(index, yield* this.#parts.beginReasoning('redacted_thinking', { data: block.data }));
        return;
      case 'tool_use':
        this.#blocks.set(index, yield* this.#parts.beginCall(block.id, this.#options.toolName(block.name)));
    }
  }

  *#grow({ index, delta }: Extract<AnthropicEvent, { type: 'content_block_delta' }>): Generator<ModelDelta> {
    const block = this.#blocks.get(index);
    if (!block) throw new ModelError('bad_stream', `a delta belongs to block ${index}, which was not begun`, false);
    if (block.type === 'text') yield* this.#parts.text(delta.text ?? '');
    else if (block.type === 'tool_call') block.args += delta.partial_json ?? '';
    else {
      if (delta.signature)
        block.data = { signature: (block.data as { signature?: string }).signature + delta.signature };
      yield* this.#parts.reasoning(block, delta.thinking ?? '');
    }
  }

  *#end(): Generator<ModelDelta> {
    yield* this.#parts.close();
    const { input_tokens, output_tokens, cache_creation_input_tokens: written, cache_read_input_tokens } = this.#usage;
    const cached = cache_read_input_tokens ?? 0;
    // The API counts the three kinds of input apart; what the prompt held is their sum.
    const prompt = input_tokens == null ? undefined : input_tokens + (written ?? 0) + cached;
    const usage = usageOf({ prompt, completion: output_tokens, cached }, this.#options.model, this.#options.prices);
    yield {
      type: 'done',
      parts: this.#parts.finish(),
      ...(usage ? { usage } : {}),
      stop_reason: this.#stopReason(),
    };
  }

  /** Counts of later events are cumulative and replace earlier ones. */
  #count(usage: AnthropicUsage | null | undefined): void {
    for (const [name, value] of Object.entries(usage ?? {})) {
      if (value != null) this.#usage = { ...this.#usage, [name]: value };
    }
  }

  #stopReason(): StopReason {
    switch (this.#stop) {
      case 'end_turn':
      case 'stop_sequence':
        return 'end';
      case 'tool_use':
        return 'tool_calls';
      case 'max_tokens':
      case 'model_context_window_exceeded':
        return 'length';
      case 'refusal':
        return 'refusal';
      default:
        return 'other';
    }
  }
}
