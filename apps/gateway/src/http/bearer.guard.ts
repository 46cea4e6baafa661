import { type CanActivate, type ExecutionContext, HttpException, Inject, Injectable } from '@nestjs/common';
import { isValidId } from '@longrein/events';
import type { TokenBook } from '../auth/token-book.js';
import { TOKENS } from '../tokens.js';

interface Request {
  readonly method: string;
  readonly headers: { readonly authorization?: string };
  readonly params: { readonly id?: string };
  readonly body?: { readonly session_id?: unknown } | undefined;
}

/** Reading needs `read`, everything else `steer`, for the session that the request names. */
@Injectable()
export class BearerGuard implements CanActivate {
  constructor(@Inject(TOKENS) private readonly tokens: () => TokenBook) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    const named = request.params.id ?? request.body?.session_id;
    const id = typeof named === 'string' ? named : '';
    const access = this.tokens().access(request.headers.authorization, id);
    if (!access) throw refuse(401, 'unauthorized', 'present a token for this session: Authorization: Bearer <token>');
    const capability = request.method === 'GET' ? 'read' : 'steer';
    if (!access.capabilities.has(capability)) throw refuse(403, 'forbidden', `this needs the capability ${capability}`);
    const isNameable: boolean = id === '' || isValidId(id);
    if (!isNameable) {
      throw refuse(400, 'invalid_id', `session id ${id.slice(0, 130)} must be 1-128 characters of A-Z a-z 0-9 _ -`);
    }
    return true;
  }
}

/** An HTTP refusal in the form of every error of the system. */
export function refuse(status: number, code: string, message: string): HttpException {
  return new HttpException({ error: { code, message } }, status);
}
