import type { BaseEnvelope } from '@longrein/events';

/** Why the log refused. Stable: clients in any language branch on it. */
export type LogErrorCode =
  /** `expect` does not hold, or a batch is stored in part and the rest no longer may be. */
  | 'conflict'
  /** The append carries an epoch below the scope's current one, or none where one is needed. */
  | 'fenced'
  /** The answering replica lost the partition while the append was in flight: retry the same request. */
  | 'moved'
  | 'unknown_session'
  /** Bad request: id, type, payload, text, or a service that may not append the type. */
  | 'invalid_event'
  | 'too_large'
  /** The stream is at its byte or message limit. */
  | 'storage_full'
  /** No owner, no server, or no answer before the deadline. */
  | 'unavailable';

/** What a refusal carries besides its code. */
export interface LogErrorDetails {
  /** Facts above `since` that the caller had not seen. */
  readonly missed?: readonly BaseEnvelope[] | 'truncated';
  /** Seq of the session's last event when the log decided. */
  readonly last_seq?: number;
  /** On a conflict: seqs of events of this very batch that are stored. */
  readonly stored?: readonly number[];
  /** The epoch in force, on `fenced`. */
  readonly epoch?: number;
}

const RETRYABLE: ReadonlySet<LogErrorCode> = new Set(['moved', 'unavailable']);

/** Thrown by every log, in memory or on JetStream, local or through the service. */
export class LogError extends Error {
  override readonly name = 'LogError';

  constructor(
    readonly code: LogErrorCode,
    message: string,
    readonly details: LogErrorDetails = {},
  ) {
    super(message);
  }

  /** Whether sending the very same request again can succeed with nothing else changed. */
  get retryable(): boolean {
    return RETRYABLE.has(this.code);
  }

  /** As it travels in replies of the log service. */
  toWire(): WireError {
    return { code: this.code, message: this.message, ...this.details };
  }

  static fromWire({ code, message, ...details }: WireError): LogError {
    return new LogError(code, message, details);
  }
}

/** An error inside a reply. */
export interface WireError extends LogErrorDetails {
  readonly code: LogErrorCode;
  readonly message: string;
}

/** Whether `error` is a `LogError`, optionally of one of these codes. */
export function isLogError(error: unknown, ...codes: LogErrorCode[]): error is LogError {
  return error instanceof LogError && (codes.length === 0 || codes.includes(error.code));
}
