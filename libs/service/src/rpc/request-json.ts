import { errors, type NatsConnection, type RequestOptions } from '@nats-io/transport-node';
import type { z } from 'zod';
import { encodeJson } from './json-codec.js';
import { errorInReply, ServiceError } from './service-error.js';
import { traceHeaders } from './trace.js';

/** How a request is made. */
export interface RequestJsonOptions {
  /** How long to wait for the reply. Default 5,000. */
  readonly timeout_ms?: number;
  readonly traceparent?: string;
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Sends a plain-JSON request and resolves to the reply, checked against `schema`. Rejects with `ServiceError`: the
 * error of the reply, `too_large` for a request that does not fit a message, `unavailable` when nobody serves the
 * subject (then with the detail `no_responders`), `timeout`, or `bad_reply`.
 */
export async function requestJson<Schema extends z.ZodType>(
  connection: NatsConnection,
  subject: string,
  body: unknown,
  schema: Schema,
  options: RequestJsonOptions = {},
): Promise<z.output<Schema>> {
  const reply = parseReply(subject, await send(connection, subject, body, options));
  const error = errorInReply(reply);
  if (error) throw ServiceError.fromWire(error);
  const parsed = schema.safeParse(reply);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new ServiceError('bad_reply', `${subject} answered nonsense: ${issue?.path.join('.')} ${issue?.message}`);
}

async function send(
  connection: NatsConnection,
  subject: string,
  body: unknown,
  { timeout_ms = 5_000, traceparent }: RequestJsonOptions,
): Promise<Uint8Array> {
  const headers = traceHeaders(traceparent);
  const options: RequestOptions = { timeout: timeout_ms, ...(headers && { headers }) };
  const bytes = encodeJson(body);
  const limit = connection.info?.max_payload;
  if (limit !== undefined && bytes.length > limit) {
    throw new ServiceError('too_large', `the request has ${bytes.length} bytes, the server allows ${limit}; send less`);
  }
  try {
    return (await connection.request(subject, bytes, options)).data;
  } catch (error) {
    if (hasCause(error, errors.NoRespondersError)) {
      throw new ServiceError('unavailable', `nobody serves ${subject}; is the service running?`, {
        no_responders: true,
      });
    }
    if (hasCause(error, errors.TimeoutError)) {
      throw new ServiceError('timeout', `${subject} did not answer within ${timeout_ms} ms`);
    }
    throw new ServiceError('unavailable', `cannot send to ${subject}: ${(error as Error).message}`);
  }
}

function hasCause(error: unknown, kind: new (...args: never[]) => Error): boolean {
  return error instanceof kind || (error instanceof Error && error.cause instanceof kind);
}

function parseReply(subject: string, data: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(data));
  } catch (error) {
    throw new ServiceError('bad_reply', `${subject} answered what is not JSON: ${(error as Error).message}`);
  }
}
