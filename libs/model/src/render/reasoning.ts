import { createHash } from 'node:crypto';
import { z } from 'zod';

const origin = z.object({
  /** Name of the provider as configured, and its model. */
  provider: z.string(),
  model: z.string(),
  /** Field or block type of the provider's format that held the reasoning. */
  format: z.string(),
  /** What the provider sent besides the text: signature, encrypted content, position. */
  data: z.unknown(),
  /** Digest of the text as the provider sent it. The text itself is content, which scrubbers may rewrite. */
  digest: z.string(),
});

/**
 * What a reasoning part's `provider` field holds: everything needed to send the part back unchanged, except its text,
 * which is in the part.
 */
export type ReasoningOrigin = z.infer<typeof origin>;

/** A reasoning part's metadata, or null when it has none that this version wrote. */
export function reasoningOrigin(metadata: unknown): ReasoningOrigin | null {
  return origin.safeParse(metadata).data ?? null;
}

/** Digest of a reasoning text. */
export function reasoningDigest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** Whether the text is still what the provider signed. */
export function isUnaltered(text: string, { digest }: ReasoningOrigin): boolean {
  return digest === reasoningDigest(text);
}
