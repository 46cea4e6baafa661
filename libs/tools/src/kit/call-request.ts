import { z } from 'zod';
import { messageOf } from '../core/index.js';

/** A call as it arrives. Fields of a newer platform are ignored. */
const callRequest = z.object({
  session_id: z.string().min(1),
  turn_id: z.string().min(1),
  call_id: z.string().min(1),
  call_seq: z.int().nonnegative(),
  name: z.string().min(1),
  args: z.unknown(),
  key: z.string().min(1),
  attempt: z.int().positive(),
  epoch: z.int().nonnegative(),
  not_after: z.iso.datetime({ offset: true }),
});

/** A call that arrived. */
export type CallRequest = z.infer<typeof callRequest>;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Reads a call's bytes; what is wrong with them comes back as a sentence. */
export function readCall(body: Uint8Array): CallRequest | { readonly invalid: string } {
  let value: unknown;
  try {
    value = JSON.parse(utf8.decode(body));
  } catch (error) {
    return { invalid: `the call is not JSON in UTF-8: ${messageOf(error)}` };
  }
  const parsed = callRequest.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues
    .slice(0, 5)
    .map((issue) => `${issue.path.map(String).join('.')}: ${issue.message}`);
  return { invalid: `the call is not valid: ${issues.join('; ')}` };
}
