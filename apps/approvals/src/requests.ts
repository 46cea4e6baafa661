import { isValidId } from '@longrein/events';
import { z } from 'zod';

const sessionId = z.custom<string>(isValidId, 'must be 1-128 characters of A-Z a-z 0-9 _ -');
const token = z.string().min(1).max(256);

/** `approvals.resolve`: a verdict on a request of the open turn. */
export const resolveRequest = z.strictObject({
  session_id: sessionId,
  call_id: token,
  /**
   * Seq of the `approval/requested` that is meant. Without it the oldest standing request of the call id: providers
   * use ids twice, and whoever showed a request to somebody says which one, so that an old button decides nothing new.
   */
  request_seq: z.int().nonnegative().optional(),
  verdict: z.enum(['approved', 'denied']),
  reason: z.string().max(4096).optional(),
  /** Who decided. */
  by: token.optional(),
});

/** `approvals.pending`. */
export const pendingRequest = z.strictObject({ session_id: sessionId });

export type ResolveRequest = z.infer<typeof resolveRequest>;

/** The verdict in force for a request. */
export interface Resolved {
  readonly call_id: string;
  readonly request_seq: number;
  readonly verdict: 'approved' | 'denied';
  /** Seq of the `approval/resolved`. */
  readonly seq: number;
}

/** What waits for a verdict in a session. */
export interface Pending {
  readonly session_id: string;
  readonly turn_id: string | null;
  /** Oldest first. `args` are the arguments as stored, i.e. scrubbed. */
  readonly pending: readonly {
    readonly request_seq: number;
    readonly call_id: string;
    readonly call_seq: number;
    readonly name: string;
    readonly args: unknown;
  }[];
}
