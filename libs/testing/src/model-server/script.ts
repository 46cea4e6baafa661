import { z } from 'zod';

const counts = z.int().nonnegative();

/** Tokens a reply reports. `cost` in US dollars, as OpenRouter reports it; Anthropic's format has no place for it. */
const scriptedUsage = z.strictObject({
  prompt_tokens: counts,
  completion_tokens: counts,
  cached_tokens: counts.optional(),
  cost: z.number().nonnegative().optional(),
});

/** One thing a reply does, in order. */
const step = z.union([
  /** One delta of text. */
  z.strictObject({ text: z.string() }),
  /** One delta of reasoning. `details` uses OpenRouter's notation instead of a string field (OpenAI format only). */
  z.strictObject({
    reasoning: z.string(),
    field: z.enum(['reasoning', 'reasoning_content', 'reasoning_details']).optional(),
  }),
  /** A block of encrypted reasoning (Anthropic's `redacted_thinking`, OpenRouter's `reasoning.encrypted`). */
  z.strictObject({ redacted_reasoning: z.string() }),
  /** A call; `raw` is sent instead of the arguments, word for word. They are cut into so many fragments (3). */
  z.strictObject({
    tool_call: z.strictObject({
      name: z.string(),
      id: z.string().optional(),
      args: z.unknown().optional(),
      raw: z.string().optional(),
      fragments: z.int().positive().optional(),
    }),
  }),
  /** Goes on when this gate is released. */
  z.strictObject({ wait: z.string() }),
  /** Goes on after so many milliseconds: pace for human eyes, not for tests. */
  z.strictObject({ pause_ms: z.int().nonnegative() }),
  /** Bytes written to the stream as they are: a malformed chunk, a comment, half a line. */
  z.strictObject({ raw: z.string() }),
  /** An error in the middle of the answer; nothing follows it. */
  z.strictObject({ error: z.strictObject({ status: z.int(), message: z.string() }) }),
  /** Breaks the connection. */
  z.strictObject({ cut: z.literal(true) }),
  /** Ends the answer as if it were whole, without saying that it is. */
  z.strictObject({ end: z.literal(true) }),
  /** Says nothing more and keeps the connection open. */
  z.strictObject({ hang: z.literal(true) }),
]);

/** What the server answers to one request. */
export const scripted = z.union([
  z.strictObject({
    steps: z.array(step),
    /** Counted from the text when absent; null: none is reported. */
    usage: scriptedUsage.nullish(),
    /** Follows from the steps when absent. */
    stop: z.enum(['end', 'tool_calls', 'length', 'refusal']).optional(),
  }),
  z.strictObject({
    fail: z.strictObject({
      status: z.int().min(400).max(599),
      message: z.string().optional(),
      code: z.string().optional(),
      headers: z.record(z.string(), z.string()).optional(),
      /** Seconds or an HTTP date. */
      retry_after: z.union([z.number(), z.string()]).optional(),
      /** Sent instead of the format's error document. */
      body: z.string().optional(),
    }),
  }),
  /** Breaks the connection without an answer. */
  z.strictObject({ disconnect: z.literal(true) }),
  /** Never answers. */
  z.strictObject({ silent: z.literal(true) }),
]);

export type ReplyStep = z.infer<typeof step>;
export type Scripted = z.infer<typeof scripted>;
export type ScriptedReply = Extract<Scripted, { steps: unknown }>;
export type ScriptedFailure = Extract<Scripted, { fail: unknown }>;
export type ScriptedUsage = z.infer<typeof scriptedUsage>;

/** A script file: replies in order, then what a request gets when they are used up. */
export const scriptFile = z.strictObject({
  replies: z.array(scripted).default([]),
  then: z.enum(['fail', 'demo']).default('fail'),
});

/** A reply of text, one delta a word. */
export function saying(text: string, rest: Omit<ScriptedReply, 'steps'> = {}): ScriptedReply {
  return { steps: words(text).map((word) => ({ text: word })), ...rest };
}

/** A reply of one tool call. */
export function calling(name: string, args: unknown = {}, id?: string): ScriptedReply {
  return { steps: [{ tool_call: { name, args, ...(id === undefined ? {} : { id }) } }] };
}

/** A text cut after every space; the pieces together are the text. */
export function words(text: string): string[] {
  return text.match(/\S*\s+|\S+$/g) ?? [];
}
