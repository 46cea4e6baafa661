import type { ReasoningSlot, ReplyParts } from '../../call/reply-parts.js';
import type { ModelDelta } from '../../port.js';
import type { OpenAiDelta, OpenAiReasoningDetail } from './chunk.js';

/** Fields of a detail that hold its text. */
const TEXT_FIELDS = ['text', 'summary'] as const;

/** What a part made of a detail keeps besides the text: the detail without it, and where it was. */
export interface DetailData {
  readonly detail: Record<string, unknown>;
  readonly field: (typeof TEXT_FIELDS)[number] | null;
}

/**
 * Reads reasoning in the notations of OpenAI-compatible servers: a string in `reasoning` or `reasoning_content`, or
 * OpenRouter's `reasoning_details`, one part for each. A server that sends details repeats their text in `reasoning`.
 */
export class ReasoningReader {
  readonly #parts: ReplyParts;
  #open: ReasoningSlot | undefined;

  constructor(parts: ReplyParts) {
    this.#parts = parts;
  }

  *read(delta: OpenAiDelta): Generator<ModelDelta> {
    const details = delta.reasoning_details ?? [];
    for (const detail of details) yield* this.#readDetail(detail);
    if (details.length > 0) return;
    // Servers that fill both fields say the same in both.
    if (delta.reasoning_content) yield* this.#readString('reasoning_content', delta.reasoning_content);
    else if (delta.reasoning) yield* this.#readString('reasoning', delta.reasoning);
  }

  *#readString(format: string, piece: string): Generator<ModelDelta> {
    const current = this.#current;
    const slot = current?.format === format ? current : yield* this.#begin(format, null);
    yield* this.#parts.reasoning(slot, piece);
  }

  *#readDetail(detail: OpenAiReasoningDetail): Generator<ModelDelta> {
    const field = TEXT_FIELDS.find((name) => typeof detail[name] === 'string') ?? null;
    const rest = Object.fromEntries(Object.entries(detail).filter(([name, value]) => name !== field && value != null));
    const current = this.#current;
    const data = current?.format === 'reasoning_details' ? (current.data as DetailData) : null;
    let slot = current;
    if (current && data && continues(data, detail)) {
      current.data = { detail: { ...data.detail, ...rest }, field: data.field ?? field } satisfies DetailData;
    } else slot = yield* this.#begin('reasoning_details', { detail: rest, field } satisfies DetailData);
    if (slot && field) yield* this.#parts.reasoning(slot, detail[field] ?? '');
  }

  /** The part being written, unless something else has begun since. */
  get #current(): ReasoningSlot | undefined {
    return this.#open === this.#parts.last ? this.#open : undefined;
  }

  *#begin(format: string, data: unknown): Generator<ModelDelta, ReasoningSlot> {
    this.#open = yield* this.#parts.beginReasoning(format, data);
    return this.#open;
  }
}

/** Whether a detail is the next piece of the one being written. Encrypted content always comes whole. */
function continues({ detail }: DetailData, next: OpenAiReasoningDetail): boolean {
  return detail['type'] === next.type && (detail['index'] ?? null) === (next.index ?? null) && !('data' in next);
}
