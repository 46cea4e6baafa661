import { z } from 'zod';
import { epoch, json, modelSpec, seq, token, toolName, usage } from './common.js';
import { defineEvent } from './define.js';

/** A tool as the model is told about it. */
export const toolDescription = z.strictObject({
  name: toolName,
  description: z.string(),
  /** JSON Schema of the arguments. */
  input_schema: json,
});

export type ToolDescription = z.infer<typeof toolDescription>;

/** A part of an assistant message, under a neutral tag. */
export const assistantPart = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string() }),
  z.strictObject({
    type: z.literal('reasoning'),
    text: z.string(),
    /** What the provider must get back unchanged (signatures, encrypted content). */
    provider: json.optional(),
  }),
  z.strictObject({ type: z.literal('tool_call'), id: token, name: toolName, args: json }),
]);

export type AssistantPart = z.infer<typeof assistantPart>;

export const contextTools = defineEvent('context/tools', {
  family: 'step',
  by: ['loop'],
  schema: z.strictObject({
    digest: token,
    tools: z.array(toolDescription),
    resources: z.array(z.strictObject({ uri: z.string(), text: z.string() })).optional(),
  }),
  content: {
    tools: [{ name: 'text', description: 'text', input_schema: 'deep' }],
    resources: [{ uri: 'text', text: 'text' }],
  },
});

/** What a request tells the model besides content. */
export const stepParameters = z.strictObject({
  temperature: z.number().min(0).max(10).optional(),
  /** Most tokens of the answer, reasoning included. */
  max_tokens: z.int().positive().optional(),
});

export type StepParameters = z.infer<typeof stepParameters>;

export const stepStart = defineEvent('step/start', {
  family: 'step',
  by: ['loop', 'worker'],
  schema: z.strictObject({
    n: z.int().positive(),
    model: modelSpec,
    request_digest: token,
    /** Those that a hook of the deployment set; absent: none. */
    parameters: stepParameters.optional(),
  }),
});

export const userMessage = defineEvent('user/message', {
  family: 'step',
  by: ['loop', 'worker'],
  modelVisible: true,
  schema: z.strictObject({ text: z.string(), input_id: token }),
  content: { text: 'text' },
});

export const contextInjected = defineEvent('context/injected', {
  family: 'step',
  by: ['loop'],
  modelVisible: true,
  schema: z.strictObject({ text: z.string(), input_id: token }),
  content: { text: 'text' },
});

export const assistantChunk = defineEvent('assistant/chunk', {
  family: 'step',
  class: 'chunk',
  by: ['loop', 'worker'],
  schema: z.strictObject({ text: z.string() }),
  content: { text: 'text' },
});

export const assistantMessage = defineEvent('assistant/message', {
  family: 'step',
  by: ['loop', 'worker'],
  modelVisible: true,
  schema: z.strictObject({ parts: z.array(assistantPart) }),
  content: { parts: [{ text: 'text', name: 'text', args: 'deep' }] },
});

export const toolCall = defineEvent('tool/call', {
  family: 'step',
  by: ['loop', 'worker'],
  schema: z.strictObject({ id: token, name: toolName, args: json }),
  content: { name: 'text', args: 'deep' },
});

export const toolStarted = defineEvent('tool/started', {
  family: 'step',
  by: ['loop'],
  schema: z.strictObject({ call_seq: seq, call_id: token, attempt: z.int().positive(), epoch }),
});

const outcome = { content: json, error: z.string().nullable() };

export const toolFinished = defineEvent('tool/finished', {
  family: 'step',
  by: ['loop'],
  schema: z.strictObject({ call_seq: seq, call_id: token, ...outcome }),
  content: { content: 'deep', error: 'text' },
});

export const toolResult = defineEvent('tool/result', {
  family: 'step',
  by: ['loop', 'worker'],
  modelVisible: true,
  schema: z.strictObject({ id: token, call_seq: seq, ...outcome }),
  content: { content: 'deep', error: 'text' },
});

export const stepEnd = defineEvent('step/end', {
  family: 'step',
  by: ['loop', 'worker'],
  schema: z.strictObject({ n: z.int().positive(), usage: usage.optional() }),
});

const spend = z.strictObject({ purpose: token, amount: z.number().nonnegative() });

export const budgetReserved = defineEvent('budget/reserved', {
  family: 'step',
  by: ['loop', 'worker'],
  schema: spend,
});

export const budgetSettled = defineEvent('budget/settled', { family: 'step', by: ['loop', 'worker'], schema: spend });

export const stepEvents = [
  contextTools,
  stepStart,
  userMessage,
  contextInjected,
  assistantChunk,
  assistantMessage,
  toolCall,
  toolStarted,
  toolFinished,
  toolResult,
  stepEnd,
  budgetReserved,
  budgetSettled,
] as const;
