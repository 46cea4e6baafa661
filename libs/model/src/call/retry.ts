import type { Clock } from '@longrein/clock';
import { ModelError } from '../errors.js';
import type { ModelDelta } from '../port.js';
import { aborted } from './attempt.js';

/** When and how often a failed request is made again. Times in milliseconds. */
export interface RetryPolicy {
  /** Requests made at most, the first included. */
  readonly max_attempts: number;
  /** Upper bound of the first wait; each further one is twice the one before. */
  readonly base_ms: number;
  /** Upper bound of every wait that the provider did not ask for. */
  readonly max_delay_ms: number;
  /** No attempt begins later than this after the first. */
  readonly max_total_ms: number;
}

/** What retrying needs. */
export interface RetryOptions {
  readonly policy: RetryPolicy;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly signal: AbortSignal;
  /** `provider/model`, for errors. */
  readonly model: string;
  /** Told of every failed attempt that is followed by another. */
  readonly onRetry?: ((retry: { error: ModelError; attempt: number; delay_ms: number }) => void) | undefined;
}

/**
 * Runs attempts until one yields its first delta. From then on nothing is retried: what was streamed has been seen, and
 * a second answer would not continue it. The last error is thrown with the number of attempts.
 */
export async function* retrying(
  begin: () => AsyncIterable<ModelDelta>,
  options: RetryOptions,
): AsyncGenerator<ModelDelta> {
  const started = options.clock.now();
  for (let attempt = 1; ; attempt++) {
    let streaming = false;
    try {
      for await (const delta of begin()) {
        streaming = true;
        yield delta;
      }
      return;
    } catch (thrown) {
      const error = withCall(thrown, options.model, attempt);
      const delay_ms = streaming ? undefined : nextDelay(error, attempt, options.clock.now() - started, options);
      if (delay_ms === undefined) throw error;
      options.onRetry?.({ error, attempt, delay_ms });
      await wait(delay_ms, options);
    }
  }
}

/** Milliseconds to wait before the next attempt, or undefined when there is none. */
export function nextDelay(
  error: ModelError,
  attempt: number,
  elapsedMs: number,
  { policy, random }: Pick<RetryOptions, 'policy' | 'random'>,
): number | undefined {
  if (!error.retryable || attempt >= policy.max_attempts) return undefined;
  const bound = Math.min(policy.max_delay_ms, policy.base_ms * 2 ** (attempt - 1));
  // Between half the bound and the bound: waits grow, and callers that failed together do not come back together.
  const backoff = bound * (0.5 + random() / 2);
  const delay = Math.ceil(Math.max(backoff, error.retryAfterMs ?? 0));
  return elapsedMs + delay > policy.max_total_ms ? undefined : delay;
}

function withCall(thrown: unknown, model: string, attempts: number): ModelError {
  const known = thrown instanceof ModelError;
  const error = known ? thrown : new ModelError('bad_stream', String(thrown), false, { cause: thrown });
  return new ModelError(error.code, error.message, error.retryable, {
    model,
    provider: model.slice(0, model.indexOf('/')),
    attempts,
    ...(error.status === undefined ? {} : { status: error.status }),
    ...(error.retryAfterMs === undefined ? {} : { retry_after_ms: error.retryAfterMs }),
    ...(error.cause === undefined ? {} : { cause: error.cause }),
  });
}

async function wait(ms: number, { clock, signal }: RetryOptions): Promise<void> {
  try {
    await clock.sleep(ms, signal);
  } catch {
    throw aborted();
  }
}
