import { z } from 'zod';

/** The longest session or agent id, in characters. */
export const MAX_ID_LENGTH = 128;

const ID = /^[A-Za-z0-9_-]{1,128}$/;

/**
 * A session's or an agent's id as clients choose it: always exactly one token of a NATS subject, and never one of the
 * system's own, which begin with `$`.
 */
export const idSchema = z.string().regex(ID, 'must be 1-128 characters of A-Z a-z 0-9 _ -');

/** Whether a client may name a session or an agent this way. */
export function isValidId(value: unknown): value is string {
  return typeof value === 'string' && ID.test(value);
}
