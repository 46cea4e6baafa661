import type Anthropic from '@anthropic-ai/sdk';
import type { AssistantPart } from '@longrein/events';
import { ModelError } from '../../errors.js';
import type { ModelRequest } from '../../port.js';
import { CONTINUE, type Message, type SentPart, type SentResult, conversation } from '../../render/conversation.js';
import { objectSchema } from '../../render/object-schema.js';
import { isUnaltered, reasoningOrigin } from '../../render/reasoning.js';
import { wireName } from '../../render/tool-names.js';

type Params = Anthropic.MessageCreateParamsStreaming;
type Block = Anthropic.ContentBlockParam;
type ReasoningPart = Extract<AssistantPart, { type: 'reasoning' }>;

const CALL_ID = /^[A-Za-z0-9_-]{1,128}$/;

/** What a provider's configuration says about its requests. */
export interface AnthropicRenderOptions {
  /** Name of the provider as configured. */
  readonly provider: string;
  /** The model's name at the provider. */
  readonly model: string;
  /** Bound of the answer when the request sets none; the API demands one. */
  readonly maxTokens: number;
  /** Lets the provider cache the prompt up to its end, so that a long session does not pay for it at every step. */
  readonly promptCache: boolean;
  /** More fields of every request, e.g. `{"thinking": {"type": "adaptive"}}`. */
  readonly extra: Readonly<Record<string, unknown>>;
}

/** The body of a messages request. */
export function renderAnthropic(request: ModelRequest, options: AnthropicRenderOptions): Params {
  const { temperature, max_tokens } = request.parameters ?? {};
  const messages = conversation(request.messages, {
    callId: CALL_ID,
    replays: (part) => replays(part, options.provider),
  });
  if (messages.length === 0) throw new ModelError('invalid_request', 'the history holds no message', false);
  return {
    ...options.extra,
    model: options.model,
    max_tokens: max_tokens ?? options.maxTokens,
    ...(request.system?.trim() ? { system: request.system } : {}),
    messages: wireMessages(messages),
    ...wireTools(request, messages),
    ...(temperature === undefined ? {} : { temperature }),
    ...(request.output_schema === undefined ? {} : { output_config: outputConfig(request.output_schema, options) }),
    ...(options.promptCache ? { cache_control: { type: 'ephemeral' } } : {}),
    stream: true,
  };
}

function outputConfig(schema: unknown, { extra }: AnthropicRenderOptions): NonNullable<Params['output_config']> {
  return {
    ...(extra['output_config'] as object | undefined),
    format: { type: 'json_schema', schema: objectSchema(schema) },
  };
}

/**
 * The request's tools. A history with calls is refused when no tool is declared; so when none is offered any more, the
 * ones it names are declared and forbidden.
 */
function wireTools({ tools }: ModelRequest, messages: readonly Message[]): Partial<Params> {
  if (tools.length > 0) {
    return {
      tools: tools.map(({ name, description, input_schema }) => ({
        name: wireName(name),
        description,
        input_schema: objectSchema(input_schema),
      })),
    };
  }
  const parts = messages.flatMap((message) => (message.role === 'assistant' ? message.parts : []));
  const called = new Set(parts.flatMap((part) => (part.type === 'tool_call' ? [part.name] : [])));
  if (called.size === 0) return {};
  const forbidden = [...called].map((name) => ({ name, input_schema: objectSchema(undefined) }));
  return { tools: forbidden, tool_choice: { type: 'none' } };
}

/** User and assistant by turns, the user first. Results open the user message that follows their calls. */
function wireMessages(messages: readonly Message[]): Anthropic.MessageParam[] {
  const wire: { role: 'user' | 'assistant'; content: Block[] }[] = [];
  const user = (...blocks: Block[]): void => {
    const last = wire.at(-1);
    if (last?.role === 'user') last.content.push(...blocks);
    else wire.push({ role: 'user', content: blocks });
  };
  for (const message of messages) {
    if (message.role === 'user') user(...message.texts.map(textBlock));
    else {
      if (wire.length === 0) user(textBlock(CONTINUE));
      wire.push({ role: 'assistant', content: withoutTrailingThinking(message.parts).map(assistantBlock) });
      if (message.results.length > 0) user(...message.results.map(resultBlock));
    }
  }
  return wire;
}

/** A message may not end with thinking. */
function withoutTrailingThinking(parts: readonly SentPart[]): readonly SentPart[] {
  return parts.slice(0, parts.findLastIndex(({ type }) => type !== 'reasoning') + 1);
}

function textBlock(text: string): Block {
  return { type: 'text', text };
}

function resultBlock({ id, text, error }: SentResult): Block {
  return { type: 'tool_result', tool_use_id: id, content: text, ...(error ? { is_error: true } : {}) };
}

function assistantBlock(part: SentPart): Block {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'tool_call':
      return { type: 'tool_use', id: part.id, name: part.name, input: part.args };
    case 'reasoning': {
      const origin = reasoningOrigin(part.provider);
      const data = origin?.data as { signature: string; data: string };
      return origin?.format === 'redacted_thinking'
        ? { type: 'redacted_thinking', data: data.data }
        : { type: 'thinking', thinking: part.text, signature: data.signature };
    }
  }
}

/** Thinking goes back to the provider that signed it, unless a scrubber has changed what was signed. */
function replays(part: ReasoningPart, provider: string): boolean {
  const origin = reasoningOrigin(part.provider);
  if (origin?.provider !== provider) return false;
  const data = origin.data as { signature?: unknown; data?: unknown } | null;
  if (origin.format === 'redacted_thinking') return typeof data?.data === 'string';
  return origin.format === 'thinking' && Boolean(data?.signature) && isUnaltered(part.text, origin);
}
