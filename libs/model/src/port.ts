import type { AssistantPart, StepParameters, ToolDescription, Usage } from '@longrein/events';
import type { HistoryItem } from '@longrein/session';

export type { HistoryItem };

/** Sampling parameters every provider understands. What is absent is the provider's default. */
export type ModelParameters = StepParameters;

/** One request to a model. */
export interface ModelRequest {
  /** `provider/model`, split at the first slash. */
  readonly model: string;
  readonly system?: string;
  /** Every tool call of an assistant message is followed by its results, in any order, before the next message. */
  readonly messages: readonly HistoryItem[];
  readonly tools: readonly ToolDescription[];
  readonly parameters?: ModelParameters;
  /** JSON Schema the answer's text must fit; the provider's structured output is used. */
  readonly output_schema?: unknown;
}

/**
 * Why the model stopped. `length`: the answer hit the token limit. `refusal`: the provider declined or filtered it.
 * `other`: a reason this version does not know.
 */
export type StopReason = 'end' | 'tool_calls' | 'length' | 'refusal' | 'other';

/** A piece of the answer that is being streamed. */
export type ModelDelta =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  /** The model began to write a call: nothing of the text before it continues after it. */
  | { readonly type: 'tool_call'; readonly id: string; readonly name: string }
  /** Always the last delta, exactly once: the whole answer. A stream that ends without it throws. */
  | ModelReply;

/** The whole answer of a model. */
export interface ModelReply {
  readonly type: 'done';
  /**
   * In the order in which the model wrote them; never an empty text part. A call's `args` is a JSON object, or the
   * text the model wrote, when that is none or cannot be stored. No parts: the model said nothing.
   */
  readonly parts: readonly AssistantPart[];
  /** Absent when the provider reported none. */
  readonly usage?: Usage;
  readonly stop_reason: StopReason;
}

/** Options of one model call. */
export interface StreamOptions {
  /** Ends the call: the stream throws `aborted` and the provider's connection is closed. */
  readonly signal: AbortSignal;
}

/** Where models answer. Implementations hold no state between calls. */
export interface ModelPort {
  /**
   * Streams one answer. Nothing is sent before the first `next()`; leaving the loop early closes the connection.
   * Throws `ModelError`, and nothing else, for everything that goes wrong.
   */
  stream(request: ModelRequest, options: StreamOptions): AsyncIterable<ModelDelta>;
}
