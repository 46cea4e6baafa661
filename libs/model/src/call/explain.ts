import { ModelError, type ModelErrorCode } from '../errors.js';
import { retryAfterMs } from './retry-after.js';

/** An error of either SDK for an answer with an error in it. Its status is absent when the answer had begun. */
export interface ApiError extends Error {
  readonly status: number | undefined;
  readonly headers: Headers | undefined;
  readonly error: unknown;
}

/** The error classes of an SDK. */
export interface SdkErrors {
  isApi(error: unknown): error is ApiError;
  isConnection(error: unknown): boolean;
}

/** Context of an explanation. */
export interface ExplainOptions {
  readonly provider: string;
  readonly redact: (text: string) => string;
  readonly now: () => number;
}

/** Turns whatever an SDK, `fetch` or a reader threw into a `ModelError`. */
export function explain(error: unknown, sdk: SdkErrors, options: ExplainOptions): ModelError {
  const { provider, redact } = options;
  const inner = chain(error).find((link) => link instanceof ModelError);
  if (inner) return new ModelError(inner.code, redact(inner.message), inner.retryable, { provider });
  if (sdk.isConnection(error)) {
    return new ModelError('connection', redact(`${provider} cannot be reached: ${rootCause(error)}`), true, {
      provider,
    });
  }
  if (sdk.isApi(error)) return explainAnswer(error, options);
  if (error instanceof Error && error.name === 'SyntaxError') {
    return new ModelError('bad_stream', redact(`${provider} sent a chunk that is not JSON: ${error.message}`), false, {
      provider,
    });
  }
  if (isBrokenBody(error)) {
    const message = `${provider} closed the connection in the middle of the answer: ${rootCause(error)}`;
    return new ModelError('stream_cut', redact(message), true, { provider });
  }
  const message = redact(`reading the answer of ${provider} failed: ${rootCause(error)}`);
  return new ModelError('bad_stream', message, false, { provider, cause: error });
}

interface ErrorBody {
  readonly type?: unknown;
  readonly code?: unknown;
  readonly message?: unknown;
}

function explainAnswer(error: ApiError, { provider, redact, now }: ExplainOptions): ModelError {
  const body = errorBody(error.error);
  const status = error.status ?? statusOf(body);
  const said = typeof body.message === 'string' && body.message !== '' ? body.message : error.message;
  const { code, retryable } = classify(status, body, said);
  const retry_after_ms = retryAfterMs(error.headers, now);
  const when = error.status === undefined ? 'stopped in the middle of its answer' : `answered ${error.status}`;
  return new ModelError(code, redact(`${provider} ${when}: ${said}`), retryable, {
    provider,
    ...(status === undefined ? {} : { status }),
    ...(retry_after_ms === undefined ? {} : { retry_after_ms }),
  });
}

/** OpenAI's SDK hands out the inner object, Anthropic's the whole body. */
function errorBody(body: unknown): ErrorBody {
  const outer = (typeof body === 'object' && body !== null ? body : {}) as ErrorBody & { error?: unknown };
  return typeof outer.error === 'object' && outer.error !== null ? outer.error : outer;
}

/** Status that an error inside an answer stands for. */
function statusOf({ type, code }: ErrorBody): number | undefined {
  if (typeof code === 'number' && code >= 400 && code < 600) return code;
  return STATUS_OF_TYPE[String(type)] ?? STATUS_OF_TYPE[String(code)];
}

const STATUS_OF_TYPE: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  api_error: 500,
  server_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};

function classify(
  status: number | undefined,
  { type, code }: ErrorBody,
  said: string,
): { code: ModelErrorCode; retryable: boolean } {
  if (code === 'context_length_exceeded' || status === 413 || /prompt is too long/i.test(said)) {
    return { code: 'context_exceeded', retryable: false };
  }
  // A used-up quota has the status of a rate limit but does not come back in seconds.
  if (status === 429) {
    return { code: 'rate_limited', retryable: code !== 'insufficient_quota' && type !== 'insufficient_quota' };
  }
  if (status === undefined || status === 408 || status === 409 || status >= 500) {
    return { code: 'overloaded', retryable: true };
  }
  if (status === 401 || status === 402 || status === 403) return { code: 'unauthorized', retryable: false };
  return { code: 'invalid_request', retryable: false };
}

/** An error and its causes, outermost first. */
function chain(error: unknown): unknown[] {
  const links: unknown[] = [];
  for (let link = error; link !== undefined && link !== null && links.length < 8; link = (link as Error).cause) {
    links.push(link);
  }
  return links;
}

function rootCause(error: unknown): string {
  const last = chain(error).at(-1);
  const { message, code } = (typeof last === 'object' ? last : {}) as { message?: unknown; code?: unknown };
  const text = typeof message === 'string' && message !== '' ? message : '';
  return [text, typeof code === 'string' && !text.includes(code) ? code : ''].filter(Boolean).join(' ') || String(last);
}

/** What `fetch` throws when a body ends before its time. */
function isBrokenBody(error: unknown): boolean {
  return chain(error).some((link) => {
    const { code, name, message } = link as { code?: unknown; name?: unknown; message?: unknown };
    if (typeof code === 'string' && /^(UND_ERR_|ECONN|EPIPE|HPE_)/.test(code)) return true;
    return name === 'TypeError' && message === 'terminated';
  });
}
