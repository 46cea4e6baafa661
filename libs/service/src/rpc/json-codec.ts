import type { z } from 'zod';
import { ServiceError } from './service-error.js';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

/** Parses bytes as JSON. Throws `bad_request` for invalid UTF-8 and for what is not JSON. */
export function decodeJson(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    throw new ServiceError('bad_request', 'the request is not valid UTF-8');
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ServiceError('bad_request', `the request is not JSON: ${(error as Error).message}`);
  }
}

/** Parses a request body and checks it. Throws `bad_request` that names each wrong field. */
export function decodeRequest<Schema extends z.ZodType>(schema: Schema, bytes: Uint8Array): z.output<Schema> {
  return checked(schema, decodeJson(bytes));
}

/** Checks a parsed request. Throws `bad_request` that names each wrong field. */
export function checked<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'request'}: ${message}`);
  throw new ServiceError('bad_request', problems.join('; '));
}

/** Serialises a reply. `undefined` becomes `{}`, so that a reply is always JSON. */
export function encodeJson(value: unknown): Uint8Array {
  return encoder.encode(JSON.stringify(value === undefined ? {} : value));
}
