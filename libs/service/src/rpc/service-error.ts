/** An error as it travels in replies: `{error: {code, message, ...}}`. */
export interface WireError {
  readonly code: string;
  readonly message: string;
  readonly [detail: string]: unknown;
}

/** Codes of the request/reply layer itself. Services add their own. */
export type TransportErrorCode =
  /** The request is not what the subject takes; nothing was done. */
  | 'bad_request'
  /** Nobody answers on the subject; nothing was done. */
  | 'unavailable'
  /** No reply in time; the request may have been carried out. */
  | 'timeout'
  /** The service has too much to do and did nothing; retry later. */
  | 'overloaded'
  /** A fault in the service; its log says which. */
  | 'internal'
  /** The reply is not JSON, or not what the caller expects. */
  | 'bad_reply';

/** A refusal that callers can branch on by `code`. Handlers throw it; `requestJson` rejects with it. */
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

/** Whether `error` is a `ServiceError`, optionally of one of these codes. */
export function isServiceError(error: unknown, ...codes: string[]): error is ServiceError {
  return error instanceof ServiceError && (codes.length === 0 || codes.includes(error.code));
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
