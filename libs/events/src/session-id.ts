/** The longest session or agent id, in characters. */
export const MAX_ID_LENGTH = 128;

const ID = /^[A-Za-z0-9_-]{1,128}$/;
const SYSTEM_ID = /^\$[a-z]{1,32}$/;

/**
 * Whether a client may name a session or an agent this way: 1-128 characters of `A-Z a-z 0-9 _ -`, so that an id is
 * always exactly one token of a NATS subject.
 */
export function isValidId(value: unknown): value is string {
  return typeof value === 'string' && ID.test(value);
}

/** Whether the id is one of the system's own (`$partition`, `$fleet`), which no client may use. */
export function isSystemId(value: unknown): value is string {
  return typeof value === 'string' && SYSTEM_ID.test(value);
}
