import type { FastifyInstance } from 'fastify';
import { refuse } from './refusals.js';

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
      const problem = error instanceof SyntaxError ? `not JSON: ${error.message}` : 'not valid UTF-8';
      done(refuse(400, 'bad_request', `the body is ${problem}`));
    }
  });
}
