import { z } from 'zod';

const text = z.object({ type: z.literal('text'), text: z.string().nullish() });
const thinking = z.object({
  type: z.literal('thinking'),
  thinking: z.string().nullish(),
  signature: z.string().nullish(),
});
const redacted = z.object({ type: z.literal('redacted_thinking'), data: z.string() });
const toolUse = z.object({
  type: z.literal('tool_use'),
  id: z.string(),
  name: z.string(),
});

/** Blocks of an answer. The ones of tools that run at the provider are not asked for, hence not known. */
const block = z.discriminatedUnion('type', [text, thinking, redacted, toolUse]);

const usage = z.object({
  input_tokens: z.number().nullish(),
  output_tokens: z.number().nullish(),
  cache_creation_input_tokens: z.number().nullish(),
  cache_read_input_tokens: z.number().nullish(),
});

const blockDelta = z.object({
  type: z.string(),
  text: z.string().nullish(),
  thinking: z.string().nullish(),
  signature: z.string().nullish(),
  partial_json: z.string().nullish(),
});

/** Events of a streamed message that mean something here. The API may add others: they are skipped. */
export const anthropicEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('message_start'), message: z.object({ usage: usage.nullish() }) }),
  z.object({ type: z.literal('content_block_start'), index: z.number(), content_block: block }),
  z.object({ type: z.literal('content_block_delta'), index: z.number(), delta: blockDelta }),
  z.object({ type: z.literal('content_block_stop'), index: z.number() }),
  z.object({
    type: z.literal('message_delta'),
    delta: z.object({ stop_reason: z.string().nullish() }),
    usage: usage.nullish(),
  }),
  z.object({ type: z.literal('message_stop') }),
]);

export type AnthropicEvent = z.infer<typeof anthropicEvent>;
export type AnthropicBlock = z.infer<typeof block>;
export type AnthropicUsage = z.infer<typeof usage>;

/** The types that `anthropicEvent` knows. */
export const ANTHROPIC_EVENTS: ReadonlySet<unknown> = new Set(
  anthropicEvent.options.map(({ shape }) => shape.type.value),
);
