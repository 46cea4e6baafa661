import type { AssistantPart } from '@longrein/events';
import type OpenAI from 'openai';
import type { ModelRequest } from '../../port.js';
import { type Message, type SentPart, conversation } from '../../render/conversation.js';
import { isUnaltered, reasoningOrigin } from '../../render/reasoning.js';
import { objectSchema } from '../../render/object-schema.js';
import { wireName } from '../../render/tool-names.js';
import type { DetailData } from './read-reasoning.js';

type Params = OpenAI.Chat.Completions.ChatCompletionCreateParamsStreaming;
type WireMessage = OpenAI.Chat.Completions.ChatCompletionMessageParam;
type ReasoningPart = Extract<AssistantPart, { type: 'reasoning' }>;

/** The API accepts ids of at most 40 characters. */
const CALL_ID = /^[\x21-\x7e]{1,40}$/;

/** Fields in which servers send reasoning as a string. */
const STRING_FIELDS: readonly string[] = ['reasoning', 'reasoning_content'];

/** What a provider's configuration says about its requests. */
export interface OpenAiRenderOptions {
  /** Name of the provider as configured. */
  readonly provider: string;
  /** The model's name at the provider. */
  readonly model: string;
  /** Name of the field that bounds the answer: OpenAI's own models take the second only, most other servers the first. */
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens';
  /** More fields of every request, e.g. `{"reasoning": {"effort": "high"}}`. */
  readonly extra: Readonly<Record<string, unknown>>;
}

/** The body of a chat completion request. */
export function renderOpenAi(request: ModelRequest, options: OpenAiRenderOptions): Params {
  const { temperature, max_tokens } = request.parameters ?? {};
  const messages = conversation(request.messages, {
    callId: CALL_ID,
    replays: (part) => replays(part, options),
  });
  return {
    ...options.extra,
    model: options.model,
    messages: [
      ...(request.system?.trim() ? [{ role: 'system' as const, content: request.system }] : []),
      ...messages.flatMap(wireMessages),
    ],
    stream: true,
    stream_options: { include_usage: true },
    ...(request.tools.length > 0 ? { tools: request.tools.map(wireTool) } : {}),
    ...(temperature === undefined ? {} : { temperature }),
    ...(max_tokens === undefined ? {} : { [options.maxTokensField]: max_tokens }),
    ...(request.output_schema === undefined ? {} : { response_format: responseFormat(request.output_schema) }),
  };
}

function wireTool({ name, description, input_schema }: ModelRequest['tools'][number]): OpenAI.ChatCompletionTool {
  return { type: 'function', function: { name: wireName(name), description, parameters: objectSchema(input_schema) } };
}

function responseFormat(schema: unknown): NonNullable<Params['response_format']> {
  return { type: 'json_schema', json_schema: { name: 'output', schema: objectSchema(schema) } };
}

function wireMessages(message: Message): WireMessage[] {
  if (message.role === 'user') return [{ role: 'user', content: message.texts.join('\n\n') }];
  const text = message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
  const calls = message.parts.flatMap((part) => (part.type === 'tool_call' ? [wireCall(part)] : []));
  return [
    {
      role: 'assistant',
      content: text === '' ? null : text,
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
      ...wireReasoning(message.parts),
    },
    ...message.results.map(({ id, text: content, error }) => ({
      role: 'tool' as const,
      tool_call_id: id,
      content: error ? `Error: ${content}` : content,
    })),
  ];
}

function wireCall({ id, name, args }: Extract<SentPart, { type: 'tool_call' }>): OpenAI.ChatCompletionMessageToolCall {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(args) } };
}

/** A gateway puts one model's reasoning before no other: encrypted content would be refused. */
function replays(part: ReasoningPart, { provider, model }: OpenAiRenderOptions): boolean {
  const origin = reasoningOrigin(part.provider);
  if (origin?.provider !== provider || origin.model !== model) return false;
  if (origin.format !== 'reasoning_details') return STRING_FIELDS.includes(origin.format);
  const { detail } = origin.data as DetailData;
  return !('signature' in detail || 'data' in detail) || isUnaltered(part.text, origin);
}

/** Reasoning in the fields it came in. */
function wireReasoning(parts: readonly SentPart[]): Record<string, unknown> {
  const fields: Record<string, string> = {};
  const details: unknown[] = [];
  for (const part of parts) {
    const origin = part.type === 'reasoning' ? reasoningOrigin(part.provider) : null;
    if (part.type !== 'reasoning' || !origin) continue;
    if (origin.format === 'reasoning_details') {
      const { detail, field } = origin.data as DetailData;
      details.push(field ? { ...detail, [field]: part.text } : detail);
    } else fields[origin.format] = (fields[origin.format] ?? '') + part.text;
  }
  return { ...fields, ...(details.length > 0 ? { reasoning_details: details } : {}) };
}
