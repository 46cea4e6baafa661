import type { FastifyInstance } from 'fastify';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Makes a server read JSON bodies strictly: bytes that are not UTF-8 are refused, where the default would store
 * replacement characters in their place. To be called before the server listens.
 */
export function readJsonStrictly(server: FastifyInstance): void {
  server.removeContentTypeParser('application/json');
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    try {
      const text = utf8.decode(body as Buffer);
      done(null, text === '' ? undefined : JSON.parse(text));
    } catch (error) {
      done(
        Object.assign(new Error(error instanceof SyntaxError ? `the body is not JSON: ${error.message}` : NOT_UTF8), {
          statusCode: 400,
          code: 'FST_ERR_CTP_INVALID_JSON_BODY',
        }),
      );
    }
  });
}

const NOT_UTF8 = 'the body is not valid UTF-8';
