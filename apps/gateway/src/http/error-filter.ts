import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Inject } from '@nestjs/common';
import { LOGGER, type Logger } from '@longrein/service';
import type { FastifyReply } from 'fastify';

/** Codes of refusals that the framework makes before a handler is reached. */
const CODES: Readonly<Record<number, string>> = {
  404: 'not_found',
  405: 'method_not_allowed',
  413: 'too_large',
  415: 'unsupported_media_type',
};

const ADVICE: Readonly<Record<number, string>> = {
  413: 'the request body is too large; at most 1048576 bytes are taken',
  415: 'the body must be JSON; send Content-Type: application/json',
};

/** Gives every HTTP error the form of all errors of the system: `{error: {code, message}}`. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(@Inject(LOGGER) private readonly logger: Logger) {}

  catch(exception: unknown, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    if (!(exception instanceof HttpException) || exception.getStatus() >= 500) {
      this.logger.error({ err: exception }, 'a request failed');
    }
    const { status, body } = answerTo(exception);
    void reply.status(status).send(body);
  }
}

function answerTo(exception: unknown): { status: number; body: unknown } {
  if (!(exception instanceof HttpException)) {
    const message = 'unexpected fault while serving this request';
    return { status: 500, body: { error: { code: 'internal', message } } };
  }
  const status = exception.getStatus();
  const body = exception.getResponse();
  if (typeof body === 'object' && 'error' in body && typeof body.error === 'object') return { status, body };
  const message = ADVICE[status] ?? exception.message;
  return { status, body: { error: { code: CODES[status] ?? 'bad_request', message } } };
}
