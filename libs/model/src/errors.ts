/**
 * What can go wrong with a model call.
 *
 * - `unknown_provider`: no provider of this name is configured; `invalid_model`: not a `provider/model`.
 * - `invalid_request`: refused before it was sent, or by the provider (any 4xx not named here).
 * - `context_exceeded`: the history does not fit the model's context window; compaction may help.
 * - `unauthorized` (401, 402, 403), `rate_limited` (429), `overloaded` (5xx, 408, 409). The provider may also say
 *   so in the middle of an answer: the code is the same and nothing is retried.
 * - `connection`: no answer reached us.
 * - `stream_cut`: the answer ended before the provider said it was complete.
 * - `bad_stream`: the provider sent something that is not its protocol.
 * - `stalled`: nothing arrived for the configured time.
 * - `aborted`: the caller's signal fired.
 */
export type ModelErrorCode =
  | 'unknown_provider'
  | 'invalid_model'
  | 'invalid_request'
  | 'context_exceeded'
  | 'unauthorized'
  | 'rate_limited'
  | 'overloaded'
  | 'connection'
  | 'stream_cut'
  | 'bad_stream'
  | 'stalled'
  | 'aborted';

/** What is known about a failed model call beyond its code and message. */
export interface ModelErrorDetails {
  /** HTTP status of the provider's answer. */
  readonly status?: number;
  readonly provider?: string;
  /** `provider/model` of the request. */
  readonly model?: string;
  /** Requests made, the failed one included. */
  readonly attempts?: number;
  /** The provider's wish for the next attempt, in milliseconds. */
  readonly retry_after_ms?: number;
  readonly cause?: unknown;
}

/** Thrown when a model call fails. The message holds the provider's own words and never a secret. */
export class ModelError extends Error {
  override readonly name = 'ModelError';
  readonly status: number | undefined;
  readonly provider: string | undefined;
  readonly model: string | undefined;
  readonly attempts: number | undefined;
  readonly retryAfterMs: number | undefined;

  /** `retryable`: the same request may succeed later. It says nothing about tokens that were already streamed. */
  constructor(
    readonly code: ModelErrorCode,
    message: string,
    readonly retryable: boolean,
    details: ModelErrorDetails = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.status = details.status;
    this.provider = details.provider;
    this.model = details.model;
    this.attempts = details.attempts;
    this.retryAfterMs = details.retry_after_ms;
  }
}
