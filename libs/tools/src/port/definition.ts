import { z } from 'zod';
import type { ToolDescription } from '@longrein/events';

/** The namespace whose tools the model sees under their bare name. */
export const DEFAULT_NAMESPACE = 'default';

/** Longest name a model may see: the smallest limit among the supported providers. */
export const MAX_VISIBLE_NAME = 64;

/** Longest time a tool may take, in milliseconds. What takes longer is a job the tool starts and reports on. */
export const MAX_TIMEOUT_MS = 3_600_000;

/** Time a tool that names none may take, in milliseconds. */
export const DEFAULT_TIMEOUT_MS = 60_000;

/** A namespace or a tool's name: one token of a NATS subject and of a KV key. */
export const nameToken = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1-64 characters of A-Z a-z 0-9 _ -');

/**
 * JSON Schema of a tool's arguments. Providers accept nothing but an object at the top, and one schema they refuse
 * fails every request of every session that shows the tool; so it is checked at the door.
 */
export const inputSchema = z
  .record(z.string(), z.unknown())
  .refine((schema) => schema['type'] === 'object', { error: 'must have "type": "object" at the top' });

/** When a person is asked before the tool runs: never, when it is mutating, always. */
export const approvalMode = z.enum(['never', 'policy', 'always']);

/** Whether a call may overlap its neighbours in one assistant message. */
export const concurrencyMode = z.enum(['serial', 'parallel']);

/** A registration as its author writes it. Unknown fields are dropped: a newer author may know more than we do. */
export const toolDefinition = z.object({
  name: nameToken,
  description: z.string().min(1).max(16_384),
  input_schema: inputSchema,
  /** Changes something outside. Absent: assumed, so that a policy asks. */
  mutating: z.boolean().default(true),
  approval: approvalMode.default('never'),
  concurrency: concurrencyMode.default('serial'),
  timeout_ms: z.int().positive().max(MAX_TIMEOUT_MS).default(DEFAULT_TIMEOUT_MS),
  /** A call whose outcome is unknown may be executed again, under the same key. `false`: it gets an error result. */
  repeatable: z.boolean().default(true),
});

/** A tool's registration, complete. */
export type ToolDefinition = z.infer<typeof toolDefinition>;

/** What an author has to write: fields with a default may be left out. */
export type ToolDefinitionInput = z.input<typeof toolDefinition>;

/** A definition in force: where its process answers and how models name it. */
export interface RegisteredTool extends ToolDefinition {
  readonly namespace: string;
  /** `<name>` in the default namespace, else `<namespace>__<name>`. Unique in a catalog. */
  readonly visible_name: string;
}

/** The tools of one model request, in their stable order, and the digest that says whether they changed. */
export interface ToolSet {
  readonly tools: readonly ToolDescription[];
  /** `sha256:` and 64 hex digits over the canonical JSON of `tools`. */
  readonly digest: string;
  /** Visible names left out because all descriptions together would not fit one event of the log. */
  readonly omitted: readonly string[];
}

/** The name models use for a tool. */
export function visibleName(namespace: string, name: string): string {
  return namespace === DEFAULT_NAMESPACE ? name : `${namespace}__${name}`;
}
