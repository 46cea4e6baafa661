/** An error as it travels in replies: `{error: {code, message, ...}}`. */
export interface WireError {
  readonly code: string;
  readonly message: string;
  readonly [detail: string]: unknown;
}

/**
 * A refusal that callers can branch on by `code`. Handlers throw it; `requestJson` rejects with it. The request/reply
 * layer itself has these codes, services add their own:
 *
 * - `bad_request`: the request is not what the subject takes; nothing was done.
 * - `unavailable`: nobody answers on the subject (detail `no_responders`; nothing was done), or the connection is gone.
 * - `timeout`: no reply in time; the request may have been carried out.
 * - `overloaded`: the service has too much to do and did nothing; retry later.
 * - `too_large`: the request or the reply does not fit a message; send less, or ask for less.
 * - `internal`: a fault in the service; its log says which.
 * - `bad_reply`: the reply is not JSON, or not what the caller expects.
 */
export class ServiceError extends Error {
  override readonly name: string = 'ServiceError';

  constructor(
    readonly code: string,
    message: string,
    readonly details: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
  }

  toWire(): WireError {
    return { ...this.details, code: this.code, message: this.message };
  }

  static fromWire({ code, message, ...details }: WireError): ServiceError {
    return new ServiceError(code, message, details);
  }
}

/** What a caller is told about a failure, or nothing when the error was not meant for callers. */
export function wireErrorOf(error: unknown): WireError | undefined {
  if (typeof error !== 'object' || error === null || !('toWire' in error)) return undefined;
  return typeof error.toWire === 'function' ? (error.toWire() as WireError) : undefined;
}

/** Narrows a parsed reply to an error reply. */
export function errorInReply(reply: unknown): WireError | undefined {
  if (typeof reply !== 'object' || reply === null || !('error' in reply)) return undefined;
  const { error } = reply;
  if (typeof error !== 'object' || error === null) return undefined;
  const { code, message } = error as Record<string, unknown>;
  return typeof code === 'string' && typeof message === 'string' ? (error as WireError) : undefined;
}
