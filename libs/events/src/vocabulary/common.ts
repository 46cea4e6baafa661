import { z } from 'zod';
import { MAX_ID_LENGTH } from '../session-id.js';

export { idSchema as id } from '../session-id.js';

/** An opaque identifier that some service or provider made up. Never empty, never longer than 256 characters. */
export const token = z.string().min(1).max(256);

/** Identifier of an agent as a turn names it. */
export const agentName = z.string().min(1).max(MAX_ID_LENGTH);

/** A session seq. */
export const seq = z.int().nonnegative();

/** A stream sequence that fences writers. */
export const epoch = z.int().nonnegative();

/** `provider/model`, e.g. `anthropic/claude-sonnet-5`. The model part may hold further slashes. */
export const modelSpec = z
  .string()
  .max(256)
  .regex(/^[A-Za-z0-9_-]+\/\S+$/, 'must be provider/model');

/** Why something happened, for people. */
export const reason = z.string().max(4096);

/** Any JSON value. The boundary has checked depth, numbers and strings before a schema sees it. */
export const json = z.unknown();

/** Tool name as models see it. */
export const toolName = z.string().min(1).max(256);

/** Policy patterns: at most 128 of at most 256 characters. */
export const patterns = z.array(z.string().max(256)).max(128);

/** Token counts and price of one model call, as the provider reported them. */
export const usage = z.strictObject({
  prompt_tokens: z.int().nonnegative(),
  completion_tokens: z.int().nonnegative(),
  cached_tokens: z.int().nonnegative().optional(),
  /** In US dollars. */
  cost: z.number().nonnegative().optional(),
});

export type Usage = z.infer<typeof usage>;
