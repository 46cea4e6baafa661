import { z } from 'zod';

/** Reasoning as OpenRouter details it. Fields differ by the model behind it and go back as they came. */
const detail = z.looseObject({
  type: z.string(),
  index: z.number().nullish(),
  text: z.string().nullish(),
  summary: z.string().nullish(),
  signature: z.string().nullish(),
});

/** A piece of a call. Servers leave out what does not change, and some of them more. */
const callDelta = z.object({
  index: z.number().nullish(),
  id: z.string().nullish(),
  function: z.object({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
});

const delta = z.object({
  content: z.string().nullish(),
  refusal: z.string().nullish(),
  reasoning: z.string().nullish(),
  reasoning_content: z.string().nullish(),
  reasoning_details: z.array(detail).nullish(),
  tool_calls: z.array(callDelta).nullish(),
});

const usage = z.object({
  prompt_tokens: z.unknown().optional(),
  completion_tokens: z.unknown().optional(),
  prompt_tokens_details: z.object({ cached_tokens: z.unknown().optional() }).nullish(),
  cost: z.unknown().optional(),
});

/** A chunk of an answer, as far as it is read: the SDK's types promise more than servers keep. */
export const openAiChunk = z.object({
  choices: z.array(z.object({ delta: delta.nullish(), finish_reason: z.string().nullish() })).nullish(),
  usage: usage.nullish(),
});

export type OpenAiChunk = z.infer<typeof openAiChunk>;
export type OpenAiDelta = z.infer<typeof delta>;
export type OpenAiCallDelta = z.infer<typeof callDelta>;
export type OpenAiReasoningDetail = z.infer<typeof detail>;
