import { HttpException } from '@nestjs/common';
import { isLogError } from '@longrein/log';
import type { z } from 'zod';
import { FrameError } from '../protocol/server-frames.js';

/** HTTP status of each code of the socket and of the log. */
const STATUS: Readonly<Record<string, number>> = {
  unauthorized: 401,
  unknown_session: 404,
  bad_frame: 400,
  invalid_event: 400,
  too_large: 413,
  conflict: 409,
  not_running: 409,
  stale_call: 409,
  refused: 409,
  limit_exceeded: 429,
  unsupported: 501,
  unavailable: 503,
  moved: 503,
  storage_full: 507,
};

/** An HTTP refusal in the form of every error of the system. */
export function refuse(status: number, code: string, message: string): HttpException {
  return new HttpException({ error: { code, message } }, status);
}

/** What `schema` makes of a value. Throws `bad_request` that names the field. */
export function parse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw refuse(400, 'bad_request', `${issue?.path.join('.') || 'body'}: ${issue?.message ?? 'not understood'}`);
}

/** Does something for a client; refusals of the log and of the services get their HTTP status. */
export async function answer<Result>(action: () => Promise<Result>): Promise<Result> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof HttpException) throw error;
    if (isLogError(error) || error instanceof FrameError) {
      throw refuse(STATUS[error.code] ?? 500, error.code, error.message);
    }
    throw error;
  }
}
